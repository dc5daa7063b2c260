package suites

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/sandbox"
)

// TestADatabaseIsReachedOnTheLoopback: a PostgreSQL that runs outside answers checks that have the network, and no others.
func TestADatabaseIsReachedOnTheLoopback(t *testing.T) {
	missing(t, "psql")
	command := fmt.Sprintf("psql -h 127.0.0.1 -p %s -U ferrus -d postgres -Atc \"select 'the answer is ' || 6*7\"", database(t))
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
	port := database(t)
	for name, value := range map[string]string{"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "ferrus", "PGDATABASE": "postgres"} {
		t.Setenv(name, value)
	}
	const ask = "psql -Atc \"select 'the answer is ' || 6*7\""
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
			named := fmt.Sprintf("PGHOST=127.0.0.1 PGPORT=%s PGUSER=ferrus PGDATABASE=postgres %s", port, ask)
			if output, passed := k.check(t, m, named); !passed || !strings.Contains(output, "the answer is 42") {
				t.Errorf("the check passed: %v\n%s", passed, output)
			}
		})
	}
}

// TestACheckStartsADatabase of its own, with sockets and shared memory, in a sandbox that has its own.
func TestACheckStartsADatabase(t *testing.T) {
	missing(t, "psql")
	bin := filepath.Dir(tool(t, "pg_ctl"))
	if os.Geteuid() == 0 {
		t.Skip("PostgreSQL refuses to run as root, and root has no other user in a sandbox")
	}
	k := begin(t, map[string]string{"database.sh": fmt.Sprintf(`set -e
PATH=%s:$PATH
initdb -D /tmp/data -U ferrus -A trust --no-locale --no-sync --no-instructions
pg_ctl -D /tmp/data -o '-k /tmp -h ""' -l /tmp/log -w start || { cat /tmp/log; exit 1; }
psql -h /tmp -U ferrus -d postgres -Atc "select 'the answer is ' || 6*7"
pg_ctl -D /tmp/data -m immediate stop
`, bin)})
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

// tool is a program of PostgreSQL's server, which distributions keep off the PATH. It skips a test where there is none.
func tool(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if path := filepath.Join(strings.TrimSpace(string(dir)), name); exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("there is no %s here", name)
	}
	return found[len(found)-1]
}

// database starts a PostgreSQL on the loopback with a cluster of its own, and returns its port. The test ends it.
func database(t *testing.T) (port string) {
	t.Helper()
	runtime.LockOSThread() // with whose thread the server dies
	initdb, postgres := tool(t, "initdb"), tool(t, "postgres")
	dir, err := os.MkdirTemp("/tmp", "ferrus-postgres-") // which every user can reach
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 { // the programs refuse to run as root
		attr.Credential = another(t)
		if err := os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"}
		return cmd
	}
	if out, err := command(initdb, "-D", "data", "-U", "ferrus", "-A", "trust", "--no-locale", "--no-sync", "--no-instructions").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	var said strings.Builder
	for range 5 { // another program can take the port first
		port = free(t)
		cmd := command(postgres, "-D", "data", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
		stderr, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			fmt.Fprintln(&said, lines.Text())
			if strings.Contains(lines.Text(), "ready to accept connections") {
				drained := make(chan struct{})
				go func() {
					defer close(drained)
					for lines.Scan() {
					}
				}()
				t.Cleanup(func() {
					_ = cmd.Process.Signal(syscall.SIGQUIT)
					<-drained
					_ = cmd.Wait()
				})
				return port
			}
		}
		_ = cmd.Wait()
	}
	t.Fatalf("PostgreSQL does not start:\n%s", &said)
	return ""
}

// another is a user as whom root runs a server.
func another(t *testing.T) *syscall.Credential {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	t.Skip("there is no user postgres or nobody here, and PostgreSQL refuses to run as root")
	return nil
}

// free is a port of the loopback that no program listens to.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
