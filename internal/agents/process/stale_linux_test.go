package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// innocent is a process of somebody else, with the number that a shim once had.
func innocent(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestANumberThatIsAnothersByNowIsNotBelieved(t *testing.T) {
	t.Parallel()
	pid := innocent(t)
	for name, act := range map[string]func(b *bench) error{
		"End":    func(b *bench) error { return b.slot.End(b.t.Context()) },
		"Stop":   func(b *bench) error { return b.slot.Stop(b.t.Context()) },
		"Settle": func(b *bench) error { b.settle(); return nil },
		"Start": func(b *bench) error {
			_, err := Start(b.order("true"))
			b.over()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("live/agent-main-executor.lock", fmt.Sprintf(`{"shim":%d,"run":"executor-1","mark":"OF-ANOTHER-BOOT"}`, pid))
			if err := act(b); err != nil {
				t.Error(err)
			}
			if !proc.Alive(pid) {
				t.Fatal("a process that is none of ours was killed")
			}
			if left := b.slot.occupant(); name != "Settle" && left.Mark != "" {
				t.Errorf("in the slot still stands %+v", left)
			}
		})
	}
}

// TestWhoClearsASlotIsNotTakenForItsAgent: the slot is taken for as long as it is cleared, and the number of a shim that
// is gone may be another process's by now.
func TestWhoClearsASlotIsNotTakenForItsAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pid := innocent(t)
	// What is to be cleared comes back for a while, so that the clearing takes long enough to be seen.
	mark := "COMES-BACK"
	hydra := exec.Command("sh", "-c", "while :; do env "+markName+"="+mark+" sleep 1000; done")
	if err := hydra.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = hydra.Process.Kill()
		_ = hydra.Wait()
		_ = b.slot.write(Occupant{Mark: mark})
		b.slot.clear()
	}()
	b.eventually("there is something to clear", func() bool { return len(marked(mark)) > 0 })
	b.eventually("somebody is seen clearing", func() bool {
		b.write("live/agent-main-executor.lock", fmt.Sprintf(`{"shim":%d,"run":"executor-1","mark":%q}`, pid, mark))
		cleared := make(chan struct{})
		go func() { defer close(cleared); b.slot.clear() }()
		seen := false
		for {
			select {
			case <-cleared:
				return seen
			default:
				if o, taken := b.slot.Taken(); taken && o.Shim == 0 {
					seen = true
				}
			}
		}
	})
	if !proc.Alive(pid) {
		t.Error("a process that is none of ours was killed")
	}
}

// TestAShimThatHasOnlyJustComeIsWaitedFor: it holds the lock before it says who it is.
func TestAShimThatHasOnlyJustComeIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lock := flock.New(string(b.slot))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.slot.End(t.Context()) }()
	time.Sleep(3 * patience) // it may look a few times
	shim := innocent(t)
	if err := b.slot.write(Occupant{Shim: shim, Mark: "JUST-COME"}); err != nil {
		t.Fatal(err)
	}
	b.eventually("the shim is asked to end", func() bool { return !proc.Alive(shim) })
	_ = lock.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestASlotWhoseHolderSaysNothingIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lock := flock.New(string(b.slot))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	b.t.Cleanup(func() { _ = lock.Close() })
	if err := b.slot.End(t.Context()); err == nil || !strings.Contains(err.Error(), "locked by an unknown process") {
		t.Error(err)
	}
}

// TestAShimNeedsNobodyToListen: its starter may be gone before it hears how the start went.
func TestAShimNeedsNobodyToListen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(sealed{b.order("echo one; sleep 0.1; echo two"), "NOBODY-LISTENS"})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	shim := exec.Command(self, shimArg)
	shim.Stdin, shim.Stdout, shim.SysProcAttr = bytes.NewReader(order), w, &syscall.SysProcAttr{Setsid: true}
	if err := shim.Run(); err != nil {
		t.Error(err)
	}
	w.Close()
	if r := b.over(); !r.Over() || r.Said != "two" || r.Exit != 0 || r.Error != "" {
		t.Errorf("written down as %+v", r)
	}
}
