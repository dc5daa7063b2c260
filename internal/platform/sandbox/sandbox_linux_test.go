package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// typeVariable makes this binary a program that types into the terminal that it was started from.
const typeVariable = "FERRUS_TEST_TYPE"

func TestMain(m *testing.M) {
	Stage()
	if os.Getenv(callsVariable) != "" {
		makeCalls()
		os.Exit(0)
	}
	if os.Getenv(typeVariable) != "" {
		letter := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
		fmt.Print(errno.Error())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestProbe: what a probe says of a mechanism is what the system has.
func TestProbe(t *testing.T) {
	for _, m := range Mechanisms() {
		err := Probe(t.Context(), m, os.Args[0])
		if err != nil {
			t.Log(err)
		}
		_, missing := exec.LookPath(string(Bwrap))
		switch {
		case m == Landlock && LandlockVersion() >= LeastLandlock && err != nil:
			t.Errorf("Landlock %d does not hold: %v", LandlockVersion(), err)
		case m == Bwrap && missing != nil && err == nil:
			t.Error("bubblewrap holds, and is not installed")
		}
	}
}

// TestAProbeEnds: a program that never ends holds nobody up.
func TestAProbeEnds(t *testing.T) {
	self := filepath.Join(t.TempDir(), "hangs")
	must(t, os.WriteFile(self, []byte("#!/bin/sh\nexec sleep 5\n"), 0o700))
	if err := probe(t.Context(), Landlock, self, time.Millisecond); !errors.Is(err, ErrSlow) || !strings.HasSuffix(err.Error(), "try again when the machine is less busy") {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := probe(gone, Landlock, self, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAStageThatCannotBeProvedStartsNothing: a path that opens from inside ends it, also where only what it leads to by a link is there.
func TestAStageThatCannotBeProvedStartsNothing(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	keys, link, none := filepath.Join(dir, "keys"), filepath.Join(dir, "home", "link"), filepath.Join(dir, "home", "none")
	must(t, errors.Join(os.Mkdir(keys, 0o700), os.Mkdir(filepath.Dir(link), 0o700), os.Symlink("../keys", link), os.Symlink("gone", none)))
	for _, m := range Mechanisms() {
		if err := Probe(t.Context(), m, os.Args[0]); err != nil {
			t.Log("not tried: ", err)
			continue
		}
		for _, c := range []struct {
			read, deny string
			starts     bool
		}{{"/usr", "/usr/bin/env", false}, {keys, link, false}, {"/usr", link, true}, {keys, none, true}} {
			work := t.TempDir()
			p := System()
			p.Read, p.Write, p.Dir, p.Network = append(p.Read, c.read), []string{work}, work, true
			p.Deny = []string{c.deny}
			argv, err := Command(m, p, os.Args[0], []string{"sh", "-c", "echo started"})
			must(t, err)
			out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
			var exit *exec.ExitError
			refused := errors.As(err, &exit) && exit.ExitCode() == ExitRefused && strings.Contains(string(out), "does not hold")
			if started := strings.Contains(string(out), "started"); started != c.starts || refused == c.starts {
				t.Errorf("%s: reading %s without %s: %v: %s", m, c.read, c.deny, err, out)
			}
		}
	}
}

// TestNothingTypesIntoTheTerminal: a client for which a person logs in has the terminal of the person's shell, which would run what
// is typed there.
func TestNothingTypesIntoTheTerminal(t *testing.T) {
	inEach(t, typeVariable, func(t *testing.T, m Mechanism, cmd *exec.Cmd) {
		screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		must(t, err)
		defer screen.Close()
		must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
		n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
		must(t, err)
		own, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		must(t, err)
		defer own.Close()
		cmd.Stdin, cmd.SysProcAttr = own, &syscall.SysProcAttr{Setsid: true, Setctty: true}
		out, err := cmd.Output()
		must(t, err)
		switch said := string(out); {
		case m == None && said == unix.EIO.Error():
			t.Skip("this kernel lets nobody type into a terminal")
		case m == None && said != unix.Errno(0).Error(), m != None && said != unix.EPERM.Error():
			t.Errorf("it says %q", said)
		}
	})
}

// inEach is a subtest for each mechanism that works here, and for none. cmd is this binary inside, with a variable that makes it another
// program, in a folder that it may write.
func inEach(t *testing.T, variable string, test func(t *testing.T, m Mechanism, cmd *exec.Cmd)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	p := System()
	p.Write, p.Read, p.Dir, p.Network = []string{dir}, append(p.Read, os.Args[0]), dir, true
	for _, m := range append(Mechanisms(), None) {
		t.Run(string(m), func(t *testing.T) {
			if err := Probe(t.Context(), m, os.Args[0]); err != nil {
				t.Skip(err)
			}
			argv, err := Command(m, p, os.Args[0], []string{os.Args[0]})
			must(t, err)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = append(os.Environ(), variable+"=1"), dir
			test(t, m, cmd)
		})
	}
}
