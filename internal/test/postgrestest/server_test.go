package postgrestest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// TestAKilledServerHasWhatWasCommitted, once it is started again.
func TestAKilledServerHasWhatWasCommitted(t *testing.T) {
	s := NewServer(t, Options{Durable: true})
	u := s.Database(t)
	execute(t, Connect(t, u), "create table note(n int)")
	for n := range 3 {
		conn := Connect(t, u)
		execute(t, conn, "insert into note values ($1)", n)
		open := Connect(t, u)
		execute(t, open, "begin; insert into note values (100)")
		s.Kill(t)
		if _, err := pgx.Connect(t.Context(), u); err == nil {
			t.Fatal("a killed server accepts a connection")
		}
		s.Start(t)
		if rows := ask[int](t, Connect(t, u), "select count(*) from note"); rows != n+1 {
			t.Errorf("there are %d rows after %d commits", rows, n+1)
		}
	}
}

// TestAFrozenServerSaysNothing, to old connections and to new ones, and answers afterwards.
func TestAFrozenServerSaysNothing(t *testing.T) {
	s := NewServer(t, Options{})
	u := s.Database(t)
	conn := Connect(t, u)
	raw := Connect(t, u)
	s.Stop(t)
	answered := send(t, raw, "select 1")
	for _, try := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := pgx.Connect(ctx, u); return err },
		conn.Ping,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := try(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a frozen server: %v", err)
		}
		cancel()
	}
	select {
	case <-answered:
		t.Error("a frozen server answered")
	default:
	}
	s.Cont(t)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if one := ask[int](t, Connect(t, u), "select 1"); one != 1 {
		t.Error(one)
	}
}

// TestAFrozenServerIsKilled as it is.
func TestAFrozenServerIsKilled(t *testing.T) {
	s := NewServer(t, Options{})
	conn := Connect(t, s.Database(t))
	pid := ask[int](t, conn, "select pg_backend_pid()")
	s.Stop(t)
	s.Kill(t)
	for _, pid := range []int{s.run.pid, pid} {
		if proc.Alive(pid) {
			t.Errorf("process %d has survived", pid)
		}
	}
	s.Start(t)
}

// send sends a query on a connection, which is not used otherwise, and returns when the first byte of an answer comes.
func send(t testing.TB, conn *pgx.Conn, sql string) <-chan error {
	t.Helper()
	raw, err := conn.PgConn().Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Conn.Close() })
	raw.Frontend.SendQuery(&pgproto3.Query{String: sql})
	if err := raw.Frontend.Flush(); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := raw.Conn.Read(make([]byte, 1))
		answered <- err
	}()
	return answered
}
