package suites

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// loopback lets a server listen on TCP.
var loopback = postgrestest.Options{TCP: true}

// TestADatabaseIsReachedOnTheLoopback: a PostgreSQL that runs outside answers checks that have the network, and no others.
func TestADatabaseIsReachedOnTheLoopback(t *testing.T) {
	missing(t, "psql")
	command := fmt.Sprintf("psql '%s' -Atc \"select 'the answer is ' || 6*7\"", postgrestest.NewServer(t, loopback).Database(t))
	k := begin(t, nil)
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			output, passed := k.check(t, m, command)
			if passed != m.network || strings.Contains(output, "the answer is 42") != m.network {
				t.Errorf("the check passed: %v\n%s", passed, output)
			}
			if refused := strings.Contains(output, "Connection refused"); refused == m.network {
				t.Errorf("the connection was refused: %v\n%s", refused, output)
			}
		})
	}
}

// TestADatabaseOfThePersonIsNotThatOfTheChecks: the variables that lead the programs of a person to a database, as to that of
// ferrus's own records, lead no check there. A command that names a database reaches it.
func TestADatabaseOfThePersonIsNotThatOfTheChecks(t *testing.T) {
	missing(t, "psql")
	u, err := url.Parse(postgrestest.NewServer(t, loopback).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	const ask = "psql -Atc \"select 'the answer is ' || 6*7\""
	named := ask
	for name, value := range map[string]string{"PGHOST": u.Query().Get("host"), "PGPORT": u.Query().Get("port"), "PGUSER": u.User.Username(),
		"PGPASSWORD": password, "PGDATABASE": strings.TrimPrefix(u.Path, "/")} {
		t.Setenv(name, value)
		named = name + "=" + value + " " + named
	}
	if out, err := exec.Command("sh", "-c", ask).CombinedOutput(); err != nil {
		t.Fatalf("the person does not reach it: %v\n%s", err, out)
	}
	k := begin(t, nil)
	for _, m := range modes {
		if !m.network {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			if output, passed := k.check(t, m, ask); passed || strings.Contains(output, "the answer is 42") {
				t.Errorf("the check passed: %v\n%s", passed, output)
			}
			if output, passed := k.check(t, m, named); !passed || !strings.Contains(output, "the answer is 42") {
				t.Errorf("the check passed: %v\n%s", passed, output)
			}
		})
	}
}

// TestACheckStartsADatabase of its own, with sockets and shared memory, in a sandbox that has its own.
func TestACheckStartsADatabase(t *testing.T) {
	missing(t, "psql")
	if os.Geteuid() == 0 {
		t.Skip("PostgreSQL refuses to run as root, and root has no other user in a sandbox")
	}
	k := begin(t, map[string]string{"database.sh": fmt.Sprintf(`set -e
PATH=%s:$PATH
initdb -D /tmp/data -U ferrus -A trust --no-locale --no-sync --no-instructions
pg_ctl -D /tmp/data -o '-k /tmp -h ""' -l /tmp/log -w start || { cat /tmp/log; exit 1; }
psql -h /tmp -U ferrus -d postgres -Atc "select 'the answer is ' || 6*7"
pg_ctl -D /tmp/data -m immediate stop
`, postgrestest.Programs(t))})
	for _, m := range modes {
		if m.mechanism != sandbox.Bwrap {
			continue // landlock refuses the sockets
		}
		t.Run(m.name, func(t *testing.T) {
			output, passed := k.check(t, m, "sh database.sh")
			if !passed || !strings.Contains(output, "the answer is 42") {
				t.Errorf("the check passed: %v\n%s", passed, output)
			}
		})
	}
}
