//go:build unix

package file

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/storetest"
)

// TestMain runs a part instead of the tests where this binary was started again to be another process.
func TestMain(m *testing.M) {
	if part := os.Getenv("FERRUS_STORE_PART"); part != "" {
		s := must(Open(os.Getenv("FERRUS_STORE_DIR"), Options{Log: quiet, LockWait: time.Minute}))
		parts[part](s)
		os.Exit(0)
	}
	os.Exit(storetest.Main(kind, m.Run))
}

// parts are what another process may do. Each says a line when it is there.
var parts = map[string]func(s *Store){
	"count": func(s *Store) { // as many as its argument says
		var n int
		must(fmt.Scan(&n))
		for range n {
			must(s.Apply(context.Background(), count))
		}
	},
	"hold": func(s *Store) { // holds the lock until it is killed
		_, _ = s.Apply(context.Background(), func(store.Snapshot) (*store.Change, error) {
			fmt.Println("held")
			forever()
			return nil, nil
		})
	},
	"announce": func(s *Store) {
		must(s.Announce("5e55"))
		fmt.Println("announced")
		forever()
	},
	"parent": func(s *Store) { // announces and leaves a process behind
		must(s.Announce("5e55"))
		cmd := exec.Command("cat")
		cmd.Stdin = os.Stdin
		must(0, cmd.Start())
		fmt.Println(cmd.Process.Pid)
		select {}
	},
	"echo": func(s *Store) { // makes an event for each line, and tells when
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			snap := must(s.Apply(context.Background(), count))
			fmt.Println(monotonic(), snap.Task.Seq)
		}
	},
}

func forever() { _, _ = io.Copy(io.Discard, os.Stdin) }

func monotonic() int64 {
	var now unix.Timespec
	must(0, unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}

// count raises the epoch by one.
func count(now store.Snapshot) (*store.Change, error) {
	next := now.Task.Clone()
	next.Epoch++
	return &store.Change{Event: "repair", Next: next}, nil
}

// A process is this binary in another part.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func play(t testing.TB, s *Store, part string) process {
	t.Helper()
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), "FERRUS_STORE_PART="+part, "FERRUS_STORE_DIR="+s.dir)
	cmd.Stderr = os.Stderr
	p := process{cmd, must(cmd.StdinPipe()), bufio.NewReader(must(cmd.StdoutPipe()))}
	must(0, cmd.Start())
	t.Cleanup(func() {
		p.in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return p
}

// says waits for a line of the process.
func (p process) says(t testing.TB) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the process ended: %v", err)
	}
	return strings.TrimSpace(line)
}

// stop stops the process and returns when it stands still.
func (p process) stop(t testing.TB) {
	t.Helper()
	must(0, p.Process.Signal(syscall.SIGSTOP))
	var status unix.WaitStatus
	if _, err := unix.Wait4(p.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it is not stopped: %v", err)
	}
}

func (p process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func TestProcessesLoseNoUpdate(t *testing.T) {
	processes, each := 16, 60
	if kit.Quick() {
		processes, each = 4, 50
	}
	s := fresh(t, Options{Log: quiet})
	do(t, s, create)
	var writers sync.WaitGroup
	for range processes {
		p := play(t, s, "count")
		fmt.Fprintln(p.in, each)
		writers.Go(func() {
			if err := p.Wait(); err != nil {
				t.Errorf("a writer: %v", err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	reads := 0
	for last, ended := uint64(0), false; !ended; reads++ {
		select {
		case <-done:
			ended = true
		default:
		}
		if raw := read(t, s.Path(stateFile)); !json.Valid([]byte(raw)) {
			t.Fatalf("STATE.json was read as %q", raw)
		}
		snap := view(t, s)
		if snap.Task.Seq < last {
			t.Fatalf("the view went back from line %d to %d", last, snap.Task.Seq)
		}
		last = snap.Task.Seq
	}
	snap, lines, err := sound(reopen(t, s))
	if want := processes * each; err != nil || len(lines) != want+1 || snap.Task.Epoch != uint64(want) {
		t.Errorf("%d lines, counter %d, want %d: %v", len(lines), snap.Task.Epoch, want, err)
	}
	t.Logf("%d reads", reads)
}

func TestAStoppedHolderOfTheLockIsNamed(t *testing.T) {
	s := fresh(t, still())
	p := play(t, s, "hold")
	p.says(t)
	p.stop(t)
	opts := still()
	opts.LockWait = 50 * time.Millisecond
	other := must(Open(s.dir, opts))
	defer other.Close()
	_, err := apply(create)(other)
	wantCode(t, err, refusal.LockBusy)
	if runtime.GOOS == "linux" {
		wantCode(t, err, refusal.LockBusy, fmt.Sprintf("process %d (stopped)", p.Process.Pid))
	}
	if snap := view(t, other); snap.Task.Seq != 0 {
		t.Error("a read needs the lock")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := other.Apply(ctx, create); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	p.kill()
	do(t, s, create)
}

func TestAKilledSessionIsGone(t *testing.T) {
	s := fresh(t, still())
	if got := s.Probe("5e55"); got != lease.Unknown {
		t.Errorf("before it is announced: %s", got)
	}
	p := play(t, s, "announce")
	p.says(t)
	if _, err := s.Announce("5e55"); code(err) != refusal.StoreError {
		t.Errorf("announced twice: %v", err)
	}
	death := s.SessionDone("5e55")
	p.stop(t)
	if got := s.Probe("5e55"); got != lease.Alive {
		t.Errorf("stopped: %s", got)
	}
	select {
	case <-death:
		t.Error("a death was told of a process that is stopped")
	default:
	}
	p.kill()
	if got := s.Probe("5e55"); got != lease.Gone {
		t.Errorf("killed: %s", got)
	}
	<-death
	must(0, os.Remove(s.Path(liveDir, "5e55.lock")))
	if got := s.Probe("5e55"); got != lease.Unknown {
		t.Errorf("without a file: %s", got)
	}
	if got := s.Probe("../STATE"); got != lease.Unknown {
		t.Errorf("a name that leaves the folder: %s", got)
	}
}

func TestAChildKeepsNoSessionAlive(t *testing.T) {
	s := fresh(t, still())
	p := play(t, s, "parent")
	var pid int
	must(fmt.Sscan(p.says(t), &pid))
	_ = p.Process.Kill()
	_, _ = p.Process.Wait()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child does not live: %v", err)
	}
	if got := s.Probe("5e55"); got != lease.Gone {
		t.Errorf("its child lives: %s", got)
	}
}

func TestAChangeElsewhereRings(t *testing.T) {
	s := fresh(t, still())
	bell := s.watch(time.Hour) // so that only the change itself is a notification
	defer bell.Close()
	p := play(t, s, "echo")
	for range 5 {
		before := view(t, s)
		fmt.Fprintln(p.in)
		for view(t, s).Task.Seq == before.Task.Seq {
			select {
			case <-bell.C:
			case <-time.After(time.Minute):
				t.Fatal("no notification of a change")
			}
		}
		p.says(t)
	}
}

func TestAFIFOBlocksNobody(t *testing.T) {
	t.Parallel()
	for _, name := range []string{stateFile, "TASK.md", journalFile} {
		s := reviewing(t)
		must(0, os.Remove(s.Path(name)))
		if err := syscall.Mkfifo(s.Path(name), 0o600); err != nil {
			t.Skip(err)
		}
		if _, err := apply(nothing)(s); code(err) != refusal.StoreError {
			t.Errorf("%s: %v", name, err)
		}
	}
}
