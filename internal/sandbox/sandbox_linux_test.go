package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Stage()
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

// TestAStageThatCannotBeProvedStartsNothing: a path that opens from inside ends it.
func TestAStageThatCannotBeProvedStartsNothing(t *testing.T) {
	if LandlockVersion() < LeastLandlock {
		t.Skip("the kernel has no Landlock")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	p := System()
	p.Write, p.Dir, p.Network = []string{dir}, dir, true
	p.Deny = []string{"/usr/bin/env"}
	argv, err := Command(Landlock, p, os.Args[0], []string{"sh", "-c", "echo started"})
	must(t, err)
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != ExitRefused || strings.Contains(string(out), "started") || !strings.Contains(string(out), "does not hold") {
		t.Errorf("%v: %s", err, out)
	}
}
