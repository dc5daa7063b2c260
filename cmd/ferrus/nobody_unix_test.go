//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// temporary is where temporary folders were before the tests had one of their own.
var temporary = os.TempDir()

// nobodyCommand runs a command as a user whom modes bind, which root is not: nobody CODE PROGRAM [ARG ...].
func nobodyCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), ts.Stdout(), ts.Stderr()
	cmd.Env = environOf(ts, "PWD="+cmd.Dir)
	if os.Geteuid() == 0 {
		state := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), ".nobody")) // records of their own
		if err := os.Mkdir(state, 0o700); err == nil {
			ts.Check(os.Chown(state, 65534, 65534))
		}
		ts.Check(os.Chown(cmd.Dir, 65534, 65534)) // state below another user's folder is not theirs
		cmd.Env = append(cmd.Env, trust.EnvStateDir+"="+state, trust.EnvXDGConf+"="+state)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		for _, dir := range []string{cmd.Dir, filepath.Dir(path)} {
			for ; strings.HasPrefix(dir, os.TempDir()+"/") || strings.HasPrefix(dir, temporary+"/"); dir = filepath.Dir(dir) {
				info, err := os.Stat(dir)
				ts.Check(err)
				ts.Check(os.Chmod(dir, info.Mode().Perm()|0o011)) // the way there, and no more
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}
