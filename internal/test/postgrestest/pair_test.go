package postgrestest

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestTwelveFailovers, one after another, lose nothing that was acknowledged: after each the old primary is killed, frozen, or
// lives on beside the new one.
func TestTwelveFailovers(t *testing.T) {
	p := NewPair(t, Options{})
	u := p.Database(t)
	execute(t, Connect(t, u), "create table note(n int)")
	for n := range 12 {
		execute(t, Connect(t, u), "insert into note values ($1)", n)
		old := p.Primary
		switch n % 3 {
		case 0:
			old.Kill(t)
		case 1:
			old.Stop(t)
		}
		p.Promote(t)
		if p.Standby != old {
			t.Fatal("the old primary is not the other server")
		}
		if n%3 != 2 { // while both accept writes, it is a matter of luck to which one a client gets
			if rows := ask[int](t, Connect(t, p.Primary.URL(database(t, u))), "select count(*) from note"); rows != n+1 {
				t.Fatalf("the new primary has %d of %d rows", rows, n+1)
			}
		}
		p.Rebuild(t)
	}
	if rows := ask[int](t, Connect(t, u), "select count(*) from note"); rows != 12 {
		t.Errorf("%d of 12 rows are left", rows)
	}
}

// TestACommitWaitsForTheStandby: without it nothing is acknowledged. It takes no writes itself, so that a URL with both leads to
// the primary.
func TestACommitWaitsForTheStandby(t *testing.T) {
	p := NewPair(t, Options{TCP: true})
	u := p.Database(t)
	execute(t, Connect(t, u), "create table note(n int)")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var refused *pgconn.PgError
	_, err := Connect(t, p.Standby.URL("postgres")).Exec(ctx, "create temp table note(n int)")
	if !errors.As(err, &refused) || refused.Code != "25006" {
		t.Errorf("a write on the standby: %v", err)
	}

	answered := send(t, Connect(t, u), "insert into note values (1)")
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	p.Standby.Kill(t)
	answered = send(t, Connect(t, u), "insert into note values (2)")
	// The query below asks until the commit waits, and nothing but the standby ends that.
	if err := p.Primary.until("select count(*) > 0 from pg_stat_activity where wait_event = 'SyncRep'"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-answered:
		t.Errorf("acknowledged without a standby: %v", err)
	default:
	}
	p.Rebuild(t)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestWhatADetachedStandbyLacks is lost when it is promoted: the commit waits, and is visible when its waiting is cancelled.
func TestWhatADetachedStandbyLacks(t *testing.T) {
	p := NewPair(t, Options{})
	u := p.Database(t)
	execute(t, Connect(t, u), "create table note(n int)")
	p.Detach(t)
	answered := send(t, Connect(t, u), "insert into note values (1)")
	if err := p.Primary.until("select count(*) > 0 from pg_stat_activity where wait_event = 'SyncRep'"); err != nil {
		t.Fatal(err)
	}
	p.Primary.Exec(t, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
	if err := <-answered; err != nil { // there was a warning
		t.Error(err)
	}
	if rows := ask[int](t, Connect(t, u), "select count(*) from note"); rows != 1 {
		t.Errorf("the primary has %d rows", rows)
	}
	p.Primary.Kill(t)
	p.Promote(t)
	p.Rebuild(t)
	if rows := ask[int](t, Connect(t, u), "select count(*) from note"); rows != 0 {
		t.Errorf("the new primary has %d rows", rows)
	}
}

// database is the name in a URL.
func database(t testing.TB, u string) string {
	t.Helper()
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(parsed.Path, "/")
}
