package postgrestest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Pair is a primary and its synchronous standby. A commit on the primary waits for the standby.
type Pair struct {
	Primary, Standby *Server // the roles that they have since the last Promote
}

// standbyName is what a standby calls itself.
const standbyName = "standby"

// NewPair starts two servers for one test. They end with the test.
func NewPair(t testing.TB, o Options) *Pair {
	t.Helper()
	both := map[string]string{
		"synchronous_standby_names": standbyName, "wal_keep_size": "1TB", // all of it; see Rebuild
		"wal_retrieve_retry_interval": "20ms", // how long a standby waits before it connects again
	}
	maps.Copy(both, o.Settings)
	o.Settings = both
	p := &Pair{Primary: NewServer(t, o), Standby: newServer(t, o)}
	p.follow(t)
	return p
}

// URL returns the URL of a database on whichever server accepts writes.
func (p *Pair) URL(database string) string {
	return Join(p.Primary.URL(database), p.Standby.URL(database))
}

// Database makes an empty database and returns its URL, which leads to whichever server accepts writes.
func (p *Pair) Database(t testing.TB) string {
	t.Helper()
	return p.URL(p.Primary.create(t))
}

// Detach lets the standby receive nothing more from the primary, on which commits wait from now on. What the primary has committed since is
// lost with it, after Promote.
func (p *Pair) Detach(t testing.TB) {
	t.Helper()
	// A setting that only its file has: the standby asks for what the primary does not have.
	p.Standby.Exec(t, "alter system set primary_slot_name = 'missing'")
	p.Standby.Exec(t, "select pg_reload_conf()")
	p.Standby.until(t, "select not exists (select from pg_stat_wal_receiver where status = 'streaming')")
}

// Promote makes the standby the primary, and returns when it accepts writes. The old primary stays as it is: running, frozen
// or killed. Commits wait until Rebuild.
func (p *Pair) Promote(t testing.TB) {
	t.Helper()
	p.Standby.Exec(t, "select pg_promote(wait => false)")
	p.Standby.until(t, "select not pg_is_in_recovery()")
	p.Standby.Exec(t, "alter system reset primary_slot_name")
	p.Primary, p.Standby = p.Standby, p.Primary
}

// Rebuild makes the other server anew, as the standby of the primary, and returns when the primary waits for it. What only the
// other server had is lost.
func (p *Pair) Rebuild(t testing.TB) {
	t.Helper()
	p.Standby.quit()
	err := os.RemoveAll(p.Standby.data())
	if err == nil {
		err = program.folder.unpack(p.Standby.data())
	}
	if err != nil {
		t.Fatal(err)
	}
	p.follow(t)
}

// follow starts a standby that has nothing but what initdb made, as the primary had in the beginning: it receives all that was written since.
// It returns when the primary waits for the standby, and the standby shows what the primary had by then.
func (p *Pair) follow(t testing.TB) {
	t.Helper()
	p.Standby.follows = p.Primary
	if err := os.WriteFile(filepath.Join(p.Standby.data(), "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.Standby.Start(t)
	var now string
	err := p.Primary.connected(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select pg_current_wal_lsn()::text").Scan(&now)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Standby.until(t, "select pg_last_wal_replay_lsn() >= '"+now+"'")
	p.Primary.until(t, "select count(*) > 0 from pg_stat_replication where state = 'streaming' and sync_state = 'sync'")
}
