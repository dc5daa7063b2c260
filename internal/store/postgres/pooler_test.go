//go:build linux

package postgres

import (
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// pooled starts PgBouncer before a server of its own, with settings as its packages have them but for the mode, and returns the URL of a database
// through it.
func pooled(t *testing.T, mode string) string {
	t.Helper()
	bouncer, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	runtime.LockOSThread() // for ever: a command ends with the thread that starts it, and this one ends with the test
	s := postgrestest.NewServer(t, postgrestest.Options{})
	direct, err := url.Parse(s.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	q := direct.Query()
	conf := fmt.Sprintf("[databases]\n* = host=%[1]s port=%[2]s user=ferrus\n[pgbouncer]\nunix_socket_dir = %[1]s\nlisten_port = 6432\nauth_type = any\nlogfile = bouncer.log\npool_mode = %[3]s\n",
		q.Get("host"), q.Get("port"), mode)
	write := s.Command(t, "/bin/sh", "-c", "cat >bouncer.ini")
	write.Stdin = strings.NewReader(conf)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := s.Command(t, bouncer, "-q", "bouncer.ini")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGKILL)
		_ = run.Wait()
	})
	q.Set("port", "6432")
	direct.RawQuery = q.Encode()
	for end := time.Now().Add(kit.Patience); ; { // until it listens
		conn, err := pgx.Connect(t.Context(), direct.String())
		if err == nil {
			conn.Close(t.Context())
			return direct.String()
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestAPoolerOfSessionsWorks as it is installed: two computers change a machine and hear of each other.
func TestAPoolerOfSessionsWorks(t *testing.T) {
	t.Parallel()
	through := pooled(t, "session")
	s := newMachine(t, connect(t, through, Options{}))
	m := another(t, s, through, 0)
	w := m.Watch()
	defer w.Close()
	apply(t, s, noted("one"))
	for view(t, m).Task.Seq != 1 {
		rung(t, w.C)
	}
	apply(t, m, claim("s-1"))
	p := takePost(t, s)
	if err := p.Leave(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := notes(t, s); len(got) != 2 {
		t.Errorf("the journal has %v", got)
	}
}

// TestAPoolerOfTransactionsIsRefused: settings, locks and notifications would be those of other clients.
func TestAPoolerOfTransactionsIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"transaction", "statement"} {
		through := pooled(t, mode)
		for range 2 {
			d, err := Connect(t.Context(), through, options(Options{}))
			if err == nil {
				d.Close()
			}
			says(t, err, refusal.StoreError, "pooler", "pool_mode = session", "name the server itself")
		}
	}
}
