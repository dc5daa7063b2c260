package postgrestest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestACutNetworkTellsNobody: the server and its client keep their connection, and nothing of it arrives until the network is
// mended. There are no new connections.
func TestACutNetworkTellsNobody(t *testing.T) {
	n := NewNetwork(t)
	p := NewPair(t, Options{Network: n})
	u := p.Database(t)
	dial := func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(u)
		if err != nil {
			t.Fatal(err)
		}
		config.DialFunc = n.Dial
		return pgx.ConnectConfig(ctx, config)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, conn, "create table note(n int)")
	if _, err := pgx.Connect(ctx, u); err == nil {
		t.Error("the servers are reached from outside of the network")
	}

	n.Cut(t)
	answered := send(t, conn, "insert into note values (1)")
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := dial(short); err == nil {
		t.Error("a new connection over a network that was cut")
	}
	select {
	case err := <-answered:
		t.Errorf("an answer over a network that was cut: %v", err)
	default:
	}
	if open := ask[int](t, p.Primary.Superuser(t), "select count(*) from pg_stat_activity where usename = 'ferrus'"); open != 1 {
		t.Errorf("the server has %d connections, not 1", open)
	}
	n.Restore(t)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
