package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// shielded is set where the test runs again in a mount namespace of its own: whatever ends it, nothing stays mounted.
const shielded = "FERRUS_STORE_SHIELDED"

// TestAPowerCutLosesNothingAcknowledged cuts a file system off from its device while processes write to it, and looks at
// what the device has.
func TestAPowerCutLosesNothingAcknowledged(t *testing.T) {
	if os.Getenv(shielded) == "" {
		shield(t)
		return
	}
	cuts := 4
	if kit.Full() {
		cuts = 1000
	}
	d := newDrive(t)
	var y losses
	for n := range cuts {
		if n%5 == 0 {
			d.format(n)
		}
		d.mount()
		y.cut(d, n)
	}
	t.Logf("rig: cases=%d bad=%d; %d acknowledgements before the cut and %d after it; the views lagged behind after %d cuts",
		cuts, y.bad, y.before, y.after, y.lagged)
	if y.before == 0 {
		t.Error("nothing was acknowledged before a cut")
	}
}

// shield runs the test again in a mount namespace that ends with it, and passes on what it says.
func shield(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("cutting the power needs root")
	}
	runtime.LockOSThread() // the kernel takes the death of this thread for that of the parent
	defer runtime.UnlockOSThread()
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v", fmt.Sprint("-test.short=", testing.Short()), fmt.Sprint("-full=", kit.Full())}
	cmd := exec.CommandContext(t.Context(), must(os.Executable()), args...)
	cmd.Env = append(os.Environ(), shielded+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch skip, why, _ := strings.Cut(text, "SKIP: "); {
	case err == nil && skip != text:
		why, _, _ = strings.Cut(why, "\n")
		t.Skip(why)
	case errors.Is(err, syscall.EPERM):
		t.Skip("cutting the power needs a mount namespace of its own: ", err)
	case err != nil:
		t.Errorf("%v\n%s", err, text)
	default:
		_, said, _ := strings.Cut(text, "rig: ")
		said, _, _ = strings.Cut(said, "\n")
		t.Log("rig: " + said)
	}
}

// losses are what many cuts came to.
type losses struct {
	bad, before, after, lagged int
}

// An ack is what a writer says of one event, right after it was told that the event stands; code is why it was refused.
type ack struct {
	at    int64 // CLOCK_MONOTONIC
	seq   uint64
	token string
	code  refusal.Code
}

// cut lets processes write, cuts the power at some moment, and holds what the device has against what they were told.
func (y *losses) cut(d *drive, n int) {
	dir := filepath.Join(d.dir, ".ferrus")
	s := must2(Create(dir, Options{Log: quiet}))
	began := view(d.t, s)
	s.Close()
	var all sync.WaitGroup
	var mu sync.Mutex
	var acks []ack
	first := make(chan struct{})
	var once sync.Once
	var writers []process
	for w := range 3 {
		p := play(d.t, &Store{dir: dir}, "write")
		writers = append(writers, p)
		fmt.Fprintf(p.in, "%d-%d\n", n, w)
		all.Go(func() {
			for {
				line, err := p.out.ReadString('\n')
				if err != nil {
					return
				}
				a := must(readAck(line))
				mu.Lock()
				acks = append(acks, a)
				mu.Unlock()
				once.Do(func() { close(first) })
			}
		})
	}
	select {
	case <-first:
	case <-time.After(kit.Patience):
		d.t.Fatal("nobody writes")
	}
	time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
	at := monotonic()
	must(0, d.cut())
	for _, p := range writers {
		p.kill()
	}
	all.Wait()
	d.unmount()
	d.mount()
	defer d.unmount()
	for _, wrong := range y.judge(dir, began.Task.Seq, acks, at) {
		y.bad++
		d.t.Errorf("cut %d (%s): %s", n, d.option, wrong)
	}
}

// judge says what is wrong with the machine after the cut.
func (y *losses) judge(dir string, began uint64, acks []ack, cut int64) (wrong []string) {
	blame := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	s, err := Open(dir, Options{Log: quiet})
	if err != nil {
		return []string{err.Error()}
	}
	defer s.Close()
	if _, ok := s.readFast(); !ok {
		y.lagged++
	}
	snap, lines, err := sound(s)
	if err != nil {
		return []string{err.Error()}
	}
	if snap.Task.Seq < began {
		blame("%d events were there before anybody wrote, and %d are", began, snap.Task.Seq)
	}
	stands := map[string]uint64{}
	for _, l := range lines {
		stands[l.Note] = l.Seq
		if l.Event == state.Violation {
			blame("a violation was journalled and nobody edited anything: %s", l.Note)
		}
	}
	for _, a := range acks {
		seq, there := stands[a.token]
		switch {
		case a.code == "" && a.at < cut:
			if y.before++; seq != a.seq {
				blame("event %d was acknowledged %v before the cut and is lost (%s, now %d)", a.seq, time.Duration(cut-a.at), a.token, seq)
			}
		case a.code == "":
			y.after++
		case a.code != refusal.OutcomeUnknown && there:
			blame("%s was refused with %s and stands", a.token, a.code)
		}
	}
	after, err := s.Apply(context.Background(), on(state.Repair, state.Human, nil))
	if err != nil || after.Task.Seq != snap.Task.Seq+1 {
		blame("the next event: %v", err)
	}
	return wrong
}

func readAck(line string) (a ack, err error) {
	f := append(strings.Fields(line), "") // the code may be missing
	a.token, a.code = f[2], refusal.Code(f[3])
	_, err = fmt.Sscan(line, &a.at, &a.seq)
	return a, err
}
