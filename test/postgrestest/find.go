package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Variables that say where PostgreSQL is, and whether tests may do without.
const (
	binVar     = "FERRUS_PG_BIN"
	requireVar = "FERRUS_PG"
)

// hidden are the folders in which distributions keep the programs of the server, beside the PATH. The digits are a version.
var hidden = []string{
	"/usr/lib/postgresql/[1-9][0-9]/bin", // Debian, Ubuntu
	"/usr/libexec/postgresql[1-9][0-9]",  // Alpine
	"/usr/pgsql-[1-9][0-9]/bin",          // packages of the project for Fedora and Red Hat
	"/usr/lib/postgresql[1-9][0-9]/bin",  // openSUSE
}

// tools are the programs of PostgreSQL.
type tools struct {
	bin, version string
	as           *owning // nil: the user of the test
}

// owning is a user and a group.
type owning struct{ uid, gid int }

// installed is the folder of the programs of PostgreSQL, and as which user they run.
var installed = sync.OnceValues(func() (found tools, err error) {
	if err = supported(); err != nil {
		return found, err
	}
	if found.bin, err = find(); err == nil {
		found.as, err = account()
	}
	if err != nil {
		return found, err
	}
	out, err := found.command("postgres", "--version").CombinedOutput()
	if err != nil {
		return found, fmt.Errorf("%s/postgres does not run here: %v: %s", found.bin, err, out)
	}
	found.version = string(out)
	return found, nil
})

// find returns the folder of the programs of PostgreSQL: the one that is named, or one of the PATH, or the newest of the hidden ones.
func find() (string, error) {
	if only := os.Getenv(binVar); only != "" {
		if !complete(only) {
			return "", fmt.Errorf("%s=%s does not contain initdb and postgres", binVar, only)
		}
		return only, nil
	}
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range hidden {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found)
		folders = append(folders, found...)
	}
	if i := slices.IndexFunc(folders, complete); i >= 0 {
		return folders[i], nil
	}
	return "", fmt.Errorf("no folder has initdb and postgres: install the server of PostgreSQL, or set %s to its folder", binVar)
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// account returns the user as whom the servers run. They refuse to run as root.
func account() (*owning, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		return &owning{uid, gid}, err
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
}

// skipped writes a line, once for each program.
var skipped sync.Once

// Programs returns the folder of the programs of PostgreSQL, for a test that starts a server by other ways.
func Programs(t testing.TB) string {
	t.Helper()
	return need(t).bin
}

// need returns the programs of PostgreSQL, and skips the test where there are none.
func need(t testing.TB) tools {
	t.Helper()
	program.Lock()
	running := program.running
	program.Unlock()
	if !running {
		t.Fatal("the TestMain of this package does not call postgrestest.Main")
	}
	found, err := installed()
	switch {
	case err == nil:
		return found
	case os.Getenv(requireVar) == "require":
		t.Fatalf("%s=require: %v", requireVar, err)
	default:
		skipped.Do(func() { fmt.Fprintf(os.Stderr, "SKIPPED: the tests with PostgreSQL: %v\n", err) })
		t.Skip(err)
	}
	return tools{}
}

// command returns a command of PostgreSQL, or one with an absolute path. It gets nothing of the environment of the test. The time
// zone saves initdb a search.
func (i tools) command(name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) {
		name = filepath.Join(i.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = bound(i.as)
	cmd.Env = []string{"PATH=" + i.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	return cmd
}

// Command returns a command of the administrator of the server: as the user of its files, in its folder, and as the superuser of the
// database. It ends with the thread that starts it.
func (s *Server) Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := need(t).command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Env, "HOME="+s.dir, "PGHOST="+s.dir, "PGPORT="+s.port, "PGUSER="+superuser)
	return cmd
}

// run runs a command as the user of the servers.
func (i tools) run(cmd *exec.Cmd) error {
	runtime.LockOSThread() // a command ends with its thread
	defer runtime.UnlockOSThread()
	var out strings.Builder
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out.String())
	}
	return nil
}
