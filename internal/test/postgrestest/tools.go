package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// tools are the programs of PostgreSQL.
type tools struct {
	bin string
	as  *owning // nil: the user of the test
}

// owning is a user and a group.
type owning struct{ uid, gid int }

// account returns the user as whom the servers run. They refuse to run as root.
func account() (*owning, error) {
	if err := supported(); err != nil || os.Geteuid() != 0 {
		return nil, err
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
		if err != nil {
			return nil, err
		}
		return &owning{uid, gid}, nil
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
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

// own gives a folder to the user of the servers. It fails if that user cannot reach the folder.
func (i tools) own(dir string) error {
	if i.as == nil {
		return nil
	}
	if err := os.Chown(dir, i.as.uid, i.as.gid); err != nil {
		return err
	}
	cmd := i.command("initdb", "--version")
	cmd.Dir = dir
	return cmd.Run()
}
