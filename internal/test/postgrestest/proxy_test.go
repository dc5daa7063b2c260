package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestAConnectionIsCutAtEachByte: a statement of which the server lacks a byte is not executed, and one of whose answer the client
// lacks a byte is. Over TCP and over a socket.
func TestAConnectionIsCutAtEachByte(t *testing.T) {
	for network, step := range map[string]int{"unix": 1, "tcp": 7} {
		t.Run(network, func(t *testing.T) {
			direct := NewServer(t, Options{TCP: network == "tcp"}).Database(t)
			watching := Connect(t, direct)
			execute(t, watching, "create table note(n int)")
			proxy := NewProxy(t, direct)
			for d, what := range map[Direction]string{ToServer: "statement", ToClient: "answer"} {
				bytes, cuts := 0, 0
				for ; ; bytes += step {
					conn := Connect(t, proxy.URL)
					made := proxy.Cut(d, bytes)
					_, err := conn.Exec(t.Context(), "insert into note values (1)")
					if err == nil {
						break
					}
					select {
					case <-made:
					case <-time.After(patience):
						t.Fatalf("an error without a cut: %v", err)
					}
					cuts++
					// A server that got the end of the stream has executed what it had before.
					gone(t, watching, conn)
				}
				want := 1 // that was not cut
				if d == ToClient {
					want += cuts
				}
				if rows := ask[int](t, watching, "select count(*) from note"); rows != want || bytes < 20 {
					t.Errorf("a %s of %d bytes: %d rows, not %d", what, bytes, rows, want)
				}
				execute(t, watching, "truncate note")
				proxy.Heal()
			}
		})
	}
}

// TestAPartitionTellsNobody: a client waits, its closed connection stays open for the server, and what it sent before is executed
// when the partition is over.
func TestAPartitionTellsNobody(t *testing.T) {
	direct := Database(t)
	watching := Connect(t, direct)
	execute(t, watching, "create table note(n int)")
	proxy := NewProxy(t, direct)
	conn, idle := Connect(t, proxy.URL), Connect(t, proxy.URL)
	proxy.Partition()

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := pgx.Connect(ctx, proxy.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a connection through a partition: %v", err)
	}
	answered := send(t, conn, "insert into note values (1)")
	if err := idle.Close(ctx); err != nil {
		t.Logf("closed: %v", err)
	}
	select {
	case err := <-answered:
		t.Errorf("an answer through a partition: %v", err)
	default:
	}
	if open := ask[int](t, watching, "select count(*) from pg_stat_activity where pid = any($1)", []uint32{conn.PgConn().PID(), idle.PgConn().PID()}); open != 2 {
		t.Errorf("the server has %d of 2 connections", open)
	}
	if rows := ask[int](t, watching, "select count(*) from note"); rows != 0 {
		t.Errorf("%d rows came through a partition", rows)
	}

	proxy.Heal()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	gone(t, watching, idle)
	if rows := ask[int](t, watching, "select count(*) from note"); rows != 1 {
		t.Errorf("%d rows after the partition", rows)
	}
}

// TestSeveredConnectionsAreMadeAgain: both ends are told, and what was on the way is lost.
func TestSeveredConnectionsAreMadeAgain(t *testing.T) {
	direct := Database(t)
	watching := Connect(t, direct)
	execute(t, watching, "create table note(n int)")
	proxy := NewProxy(t, direct)
	conn := Connect(t, proxy.URL)
	proxy.Partition()
	answered := send(t, conn, "insert into note values (1)")
	proxy.Sever()
	if err := <-answered; err == nil {
		t.Error("a severed connection has an answer")
	}
	gone(t, watching, conn)
	proxy.Heal()
	execute(t, Connect(t, proxy.URL), "insert into note values (2)")
	if rows := ask[string](t, watching, "select string_agg(n::text, ' ') from note"); rows != "2" {
		t.Errorf("the rows are %s", rows)
	}
}

// gone returns when the server has ended a connection.
func gone(t testing.TB, watching, conn *pgx.Conn) {
	t.Helper()
	query := fmt.Sprintf("select count(*) = 0 from pg_stat_activity where pid = %d", conn.PgConn().PID())
	if err := until(t.Context(), watching, query); err != nil {
		t.Fatal(err)
	}
}
