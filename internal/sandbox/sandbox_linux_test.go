package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/test/golden"
)

// secret is what an attack must not print. It is the same in all processes of a test.
var secret = os.Getenv("FERRUS_TEST_SECRET")

func TestMain(m *testing.M) {
	Stage()
	if name := os.Getenv("FERRUS_TEST_ATTACK"); name != "" {
		os.Exit(attackAs(name))
	}
	if os.Getenv("FERRUS_TEST_VICTIM") != "" {
		select {}
	}
	secret = rand.Text()
	os.Setenv("FERRUS_TEST_SECRET", secret)
	os.Exit(m.Run())
}

func attackAs(name string) int {
	pid, _ := strconv.Atoi(os.Getenv("T_PID"))
	base := os.Getenv("T_BASE")
	t := target{base: base, project: base + "/p", ferrus: base + "/p/.ferrus", work: base + "/p/.ferrus/worktrees/one", other: base + "/p/.ferrus/worktrees/two",
		home: base + "/home", pid: pid, tcp: os.Getenv("T_TCP"), udp: os.Getenv("T_UDP")}
	for _, a := range attacks {
		if a.name == name {
			if err := a.try(t); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			return 0
		}
	}
	return 2
}

// A victim is what an attack is tried on.
type victim struct {
	base     string
	env      []string
	process  *exec.Cmd
	dead     chan struct{}
	visitors atomic.Int32 // of the services, without ourselves
	services [][2]string  // networks with addresses
	left     *os.File     // open in the process that starts the command
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	v := &victim{base: base, dead: make(chan struct{})}
	for _, dir := range []string{"p/.ferrus/worktrees/one", "p/.ferrus/worktrees/two", "p/.git/hooks", "home/.ssh"} {
		must(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for _, name := range []string{"p/.ferrus/journal.jsonl", "p/.ferrus/STATE.json", "p/.ferrus/STATE.lock", "p/.ferrus/tokens.json", "p/code.txt", "p/ferrus.toml", "p/.git/config",
		"p/.ferrus/worktrees/two/code.txt", "p/.ferrus/worktrees/two/secret", "home/.bashrc", "home/.ssh/id"} {
		must(t, os.WriteFile(filepath.Join(base, name), []byte(secret+"\n"), 0o644))
	}
	if h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(base, "p/.ferrus/tokens.json"), 0); err == nil {
		must(t, os.WriteFile(filepath.Join(base, "p/.ferrus/worktrees/one/handle"), h.Bytes(), 0o644))
	}
	v.process = exec.Command(os.Args[0], secret)
	v.process.Env = append(os.Environ(), "FERRUS_TEST_VICTIM=1", "FERRUS_TEST_ATTACK=")
	must(t, v.process.Start())
	go func() { _ = v.process.Wait(); close(v.dead) }()
	t.Cleanup(func() { _ = v.process.Process.Kill(); <-v.dead })
	tcp, udp := v.serve(t, "tcp", "127.0.0.1:0"), v.datagrams(t)
	v.serve(t, "unix", base+"/s")
	v.serve(t, "unix", "@"+base)
	v.left, err = os.Open(filepath.Join(base, "p/.ferrus/tokens.json"))
	must(t, err)
	t.Cleanup(func() { v.left.Close() })
	v.env = append(os.Environ(), "T_BASE="+base, "T_PID="+strconv.Itoa(v.process.Process.Pid), "T_TCP="+tcp, "T_UDP="+udp, "HOME="+base+"/home")
	return v
}

// serve counts who connects.
func (v *victim) serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.visitors.Add(1)
			c.Close()
		}
	}()
	v.services = append(v.services, [2]string{network, l.Addr().String()})
	return l.Addr().String()
}

// visits is how often a service was reached. It visits each itself, after all that came before.
func (v *victim) visits(t *testing.T) int32 {
	t.Helper()
	for _, s := range v.services {
		c, err := net.Dial(s[0], s[1])
		must(t, err)
		_, _ = c.Write([]byte("ours")) // it may be closed already
		_, _ = c.Read(make([]byte, 1)) // it is answered, or closed
		must(t, c.Close())
		v.visitors.Add(-1)
	}
	return v.visitors.Load()
}

func (v *victim) datagrams(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		for buf := make([]byte, 64); ; {
			_, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			v.visitors.Add(1)
			_, _ = c.WriteTo(buf[:1], from)
		}
	}()
	v.services = append(v.services, [2]string{"udp", c.LocalAddr().String()})
	return c.LocalAddr().String()
}

// outside is everything but the work tree of the command: names, modes and contents.
func (v *victim) outside(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(v.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "/worktrees/one") {
			if err == nil {
				return fs.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] += string(data)
			return err
		}
		return nil
	}))
	return all
}

// policy is one under which the command has its work tree.
func (v *victim) policy(network bool) Policy {
	f := v.base + "/p/.ferrus"
	p := System()
	p.Write, p.Dir, p.Network = []string{f + "/worktrees/one"}, f+"/worktrees/one", network
	p.Read = append(p.Read, filepath.Dir(os.Args[0]))
	p.Deny = []string{f + "/journal.jsonl", v.base + "/home"}
	return p
}

// tried tries an attack and reports whether it went through, and what it printed.
func (v *victim) tried(t *testing.T, a attack, c column) (through bool, told string) {
	t.Helper()
	before, reached := v.outside(t), v.visits(t)
	argv, err := command(order{Mechanism: c.m, ABI: c.abi, Policy: v.policy(!c.offline)}, os.Args[0], []string{os.Args[0]})
	must(t, err)
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = append(v.env, "FERRUS_TEST_ATTACK="+a.name), &out, &errs, v.base+"/p/.ferrus/worktrees/one"
	cmd.ExtraFiles = []*os.File{v.left}
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code == exitRefused || code == exitMissing || code == 2 {
		t.Fatalf("%s: exit code %d, %v: %s", a.name, code, err, errs.String())
	}
	dead := false
	if err == nil && strings.Contains(a.name, "signal") {
		<-v.dead
		dead = true
	}
	through = dead || v.visits(t) != reached || strings.Contains(out.String(), secret) || !maps.Equal(before, v.outside(t))
	return through, strings.TrimSpace(errs.String())
}

// A column is a way in which the attacks are tried.
type column struct {
	m       Mechanism
	abi     int  // of Landlock; 0 for that of the kernel
	offline bool // without a network
}

// TestNoAttackGoesThroughThatTheDocumentationSaysIsStopped: each goes through without a sandbox, so that the test can see it, and
// through none that is to stop it.
func TestNoAttackGoesThroughThatTheDocumentationSaysIsStopped(t *testing.T) {
	var columns []column
	for abi := leastABI; abi <= kernelABI(); abi++ {
		columns = append(columns, column{m: Landlock, abi: abi})
	}
	if _, err := exec.LookPath("bwrap"); err == nil {
		columns = append(columns, column{m: Bwrap}, column{m: Bwrap, offline: true})
	} else {
		t.Log("bubblewrap is not installed: its column is not tried")
	}
	if len(columns) == 0 {
		t.Skip("this system has neither Landlock 3 nor bubblewrap")
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if through, why := newVictim(t).tried(t, a, column{m: None}); !through {
				if strings.Contains(why, "not permitted") || strings.Contains(why, "not implemented") || strings.Contains(why, "not supported") {
					t.Skipf("it cannot be done here without a sandbox either: %s", why)
				}
				t.Fatalf("it does not go through without a sandbox, so that nothing is shown: %s", why)
			}
			for _, c := range columns {
				want := a.through[c.m] && !(c.offline && a.network) || c.m == Landlock && c.abi < a.upTo
				if through, why := newVictim(t).tried(t, a, c); through != want {
					t.Errorf("%+v: through is %v, and the documentation says %v: %s", c, through, want, why)
				}
			}
		})
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
		case m == Landlock && kernelABI() >= leastABI && err != nil:
			t.Errorf("Landlock %d does not hold: %v", kernelABI(), err)
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
	if kernelABI() < leastABI {
		t.Skip("the kernel has no Landlock")
	}
	v := newVictim(t)
	p := v.policy(true)
	p.Deny = []string{"/usr/bin/env"}
	argv, err := Command(Landlock, p, os.Args[0], []string{"sh", "-c", "echo started"})
	must(t, err)
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitRefused || strings.Contains(string(out), "started") || !strings.Contains(string(out), "does not hold") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheTableOfAttacksIsFresh: docs/sandbox.md lists the attacks, and which of them the test finds stopped.
func TestTheTableOfAttacksIsFresh(t *testing.T) {
	const file = "../../docs/sandbox.md"
	data, err := os.ReadFile(file)
	must(t, err)
	var table strings.Builder
	for _, a := range attacks {
		cell := func(m Mechanism) string {
			switch {
			case a.through[m] && a.network && m == Bwrap:
				return "stopped without a network"
			case a.through[m]:
				return "not stopped"
			case m == Landlock && a.upTo > 0:
				return fmt.Sprintf("stopped from version %d on", a.upTo)
			}
			return "stopped"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", a.name, cell(Landlock), cell(Bwrap))
	}
	const head = "| attack | landlock | bwrap |\n|---|---|---|\n"
	before, rest, found := strings.Cut(string(data), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table of attacks", file)
	}
	golden.Check(t, file, before+head+table.String()+"\n"+after)
}
