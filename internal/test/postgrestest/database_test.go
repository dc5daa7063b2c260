package postgrestest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestEachTestHasADatabase: an empty one, which its user owns, and which is gone after the test.
func TestEachTestHasADatabase(t *testing.T) {
	var names []string
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			u := Database(t)
			names = append(names, database(t, u))
			conn := Connect(t, u)
			execute(t, conn, "create table note(text text)")
			execute(t, conn, "insert into note values ($1)", name)
			if super := ask[bool](t, conn, "select rolsuper from pg_roles where rolname = current_user"); super {
				t.Error("tests connect as superuser")
			}
		})
	}
	conn := sharedServer(t, false).Superuser(t)
	if n := ask[int](t, conn, "select count(*) from pg_database where datname = any($1)", names); n != 0 || names[0] == names[1] {
		t.Errorf("of the databases %q there are %d left", names, n)
	}
}

func TestADurableDatabaseIsSynced(t *testing.T) {
	for want, u := range map[string]string{"off": Database(t), "on": DurableDatabase(t)} {
		if got := ask[string](t, Connect(t, u), "show fsync"); got != want {
			t.Errorf("fsync is %s, not %s", got, want)
		}
	}
}

// TestNothingListensOnTheNetwork, unless a test asks for it; then a password is needed.
func TestNothingListensOnTheNetwork(t *testing.T) {
	if listens := ask[string](t, Connect(t, Database(t)), "show listen_addresses"); listens != "" {
		t.Errorf("the server listens on %s", listens)
	}
	s := NewServer(t, Options{TCP: true})
	u := s.Database(t)
	if address := ask[string](t, Connect(t, u), "select host(inet_server_addr())"); address != loopback {
		t.Errorf("the server was reached at %s", address)
	}
	var refused *pgconn.PgError
	_, err := pgx.Connect(t.Context(), strings.Replace(u, password, "guess", 1))
	if !errors.As(err, &refused) || refused.Code != "28P01" {
		t.Errorf("with another password: %v", err)
	}
}

// execute executes a statement.
func execute(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask returns the only value of a query.
func ask[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) (value T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := conn.QueryRow(ctx, sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}
