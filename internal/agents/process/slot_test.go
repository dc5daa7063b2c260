//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestAnAgentIsStartedAsOrderedAndWrittenDown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.order(`pwd; cat; echo "$GREETING $PWD"; echo complaint >&2; until test -e go; do sleep 0.01; done; exit 3`)
	o.Launch.Stdin, o.Launch.Env = "read me\n", append(o.Launch.Env, "GREETING=hello")
	o.Run.Model = "large"
	began := time.Now().Add(-time.Millisecond)
	r, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "executor-1" || r.At != 7 || r.Model != "large" || r.Over() || !r.Began() || r.Started.Before(began.Truncate(time.Millisecond)) {
		t.Errorf("started as %+v", r)
	}
	if who := b.occupant(); who.Run != r.Name || who.Shim <= 1 || who.Mark == "" || !who.Started.Equal(r.Started) {
		t.Errorf("in the slot is %+v", who)
	}
	if list := b.runs(); len(list) != 1 || list[0] != r {
		t.Errorf("written down: %+v", list)
	}
	if list := b.settle(); list[0].Over() {
		t.Error("the run of a living agent is settled")
	}
	b.write("go", "")
	end := b.over()
	if end.Name != r.Name || end.Exit != 3 || end.Signal != "" || end.Error != "" || end.Cut || end.Stopped || !end.Over() || !end.Began() ||
		end.Ended.Before(end.Started) || end.Said != "complaint" {
		t.Errorf("ended as %+v", end)
	}
	want := b.dir + "\nread me\nhello " + b.dir + "\ncomplaint\n"
	if got := b.text("logs/agent-t-executor-1.log"); got != want || end.Log != b.path("logs/agent-t-executor-1.log") {
		t.Errorf("its output is %q in %s, not %q", got, end.Log, want)
	}
	if left := b.slot.occupant(); left != (Occupant{}) {
		t.Errorf("in the empty slot stands %+v", left)
	}
	if lines := strings.Count(b.text("runs/t.jsonl"), "\n"); lines != 2 {
		t.Errorf("%d lines for one run", lines)
	}
}

func TestTheOutputIsKeptWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`head -c 5000000 /dev/zero | tr '\0' x; echo; seq 100000; echo last`)
	end := b.over()
	got := b.text("logs/agent-t-executor-1.log")
	if line, rest, _ := strings.Cut(got, "\n"); len(line) != 5000000 || !strings.HasPrefix(rest, "1\n2\n") || !strings.HasSuffix(rest, "\n100000\nlast\n") {
		t.Errorf("%d bytes of output", len(got))
	}
	if end.Said != "last" {
		t.Errorf("its last words are %.80q", end.Said)
	}
}

func TestASignalThatEndsAnAgentIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("kill -KILL $$")
	if r := b.over(); r.Exit != -1 || r.Signal != "SIGKILL" || r.Cut || r.Stopped || !r.Began() {
		t.Errorf("%+v", r)
	}
}

// TestOneOfManyStarts: of those who start at once, in several processes, exactly one does. Before every round but the
// first the shim is killed, so that there are remains of the last one to be cleared by all of them at once.
func TestOneOfManyStarts(t *testing.T) {
	t.Parallel()
	rounds, processes := 3, 5
	b := newBench(t)
	var all []*teller
	for range processes {
		all = append(all, newTeller(t))
	}
	for round := range rounds {
		o := b.order("echo $$ >> started; exec sleep 1000")
		var said []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		hear := func(text string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, text)
		}
		for _, p := range all {
			p.send(t, o)
			wg.Go(func() { hear(p.says()) })
		}
		for range 15 {
			wg.Go(func() {
				r, err := Start(o)
				switch {
				case errors.Is(err, ErrTaken):
					hear("taken")
				case err != nil:
					hear("error " + err.Error())
				default:
					hear("started " + r.Name)
				}
			})
		}
		wg.Wait()
		slices.Sort(said)
		if said = slices.Compact(said); len(said) != 2 || !strings.HasPrefix(said[0], "started ") || said[1] != "taken" {
			t.Fatalf("round %d: %q", round, said)
		}
		b.eventually("the agent runs", func() bool { return strings.Count(b.text("started"), "\n") >= round+1 })
		if n := strings.Count(b.text("started"), "\n"); n != round+1 || len(b.runs()) != round+1 {
			t.Fatalf("round %d: %d agents, %d runs are written down", round, n, len(b.runs()))
		}
		hit(t, b.occupant().Shim, syscall.SIGKILL)
		b.settle()
		<-b.slot.Freed()
	}
}

// TestAnOrderIsCarriedOutOnce: a conductor that was killed has started an agent, which has ended before the shim of the next
// conductor comes to the slot. That one's order is about the same start.
func TestAnOrderIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.order(`echo here >> starts`)
	o.Number = Next(b.runs(), o.Run.Duty)
	if _, err := Start(o); err != nil {
		t.Fatal(err)
	}
	b.over()
	if r, err := Start(o); !errors.Is(err, ErrTaken) {
		t.Errorf("started again: %+v, %v", r, err)
	}
	if got := b.text("starts"); got != "here\n" || len(b.runs()) != 1 {
		t.Errorf("%q, %+v", got, b.runs())
	}
	if o.Number = Next(b.runs(), o.Run.Duty); o.Number != 2 || Next(b.runs(), agents.Reviewer) != 1 {
		t.Errorf("next is %d", o.Number)
	}
	if r, err := Start(o); err != nil || r.Name != "executor-2" {
		t.Errorf("the next order: %+v, %v", r, err)
	}
	b.over()
}

// TestWhoOnlyLooksIsInNobodysWay: a look at the lock holds it for a moment.
func TestWhoOnlyLooksIsInNobodysWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("true")
	b.over()
	over := make(chan struct{})
	var looking sync.WaitGroup
	for range 8 { // nor do they take each other for an agent
		looking.Go(func() {
			for range 1000 {
				if o, taken := b.slot.Taken(); taken {
					t.Errorf("in the empty slot is %+v", o)
					return
				}
			}
		})
	}
	looking.Wait()
	defer func() { close(over); looking.Wait() }()
	for range 16 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					b.slot.Taken()
				}
			}
		})
	}
	for n := range 5 {
		if _, err := Start(b.order("true")); err != nil {
			t.Fatalf("start %d: %v", n, err)
		}
		b.over()
	}
	if n := len(b.runs()); n != 6 {
		t.Errorf("%d runs", n)
	}
}

func TestWhatCannotBeStartedIsWrittenDownToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(b *bench, o *Order)
		want  string
	}{
		{"no such program on the PATH", func(_ *bench, o *Order) { o.Launch.Argv = []string{"no-such-agent"} }, "no-such-agent is not on the PATH"},
		{"no such path", func(_ *bench, o *Order) { o.Launch.Argv = []string{"/no/such/agent"} }, "start /no/such/agent: "},
		{"not a program", func(b *bench, o *Order) { b.write("plain", "text"); o.Launch.Argv = []string{b.path("plain")} }, "permission denied"},
		{"no such folder", func(b *bench, o *Order) { o.Launch.Dir = b.path("gone") }, "no such file or directory"},
		{"a relative entry of the PATH", func(b *bench, o *Order) {
			b.write("agent", "#!/bin/sh\n")
			_ = os.Chmod(b.path("agent"), 0o700)
			o.Launch.Argv, o.Launch.Env = []string{"agent"}, []string{"PATH=.:"}
		}, "agent is not on the PATH"},
		{"a file where the folder of logs belongs", func(b *bench, _ *Order) { b.write("logs", "") }, "logs is not a folder; move it away"},
		{"a file of the launch in a file", func(b *bench, o *Order) {
			b.write("plain", "")
			o.Launch.Files = map[string]string{b.path("plain/conf"): ""}
		}, "plain is not a folder; move it away"},
		{"a folder in the place of a file of the launch", func(b *bench, o *Order) {
			_ = os.MkdirAll(b.path("conf/full"), 0o700)
			o.Launch.Files = map[string]string{b.path("conf"): ""}
		}, "conf: file exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			o := b.order("true")
			c.spoil(b, &o)
			_, err := Start(o)
			if err == nil || errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, not %q", err, c.want)
			}
			if r := b.over(); r.Error != err.Error() || r.Began() || !r.Over() || r.Name != "executor-1" {
				t.Errorf("written down as %+v", r)
			}
			if r := b.over(); r.Unable == (strings.Contains(c.name, "folder") || strings.Contains(c.name, "launch")) || (r.Absence().Why == "cannot start") != r.Unable {
				t.Errorf("another agent works in its place: %v", r.Unable)
			}
			if left := b.slot.occupant(); left.Mark != "" {
				t.Errorf("in the slot stands %+v", left)
			}
		})
	}
}

func TestWithoutARecordThereIsNoAgent(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(b *bench, o *Order){
		"the list cannot be written": func(b *bench, _ *Order) { b.write("runs", "") },
		"the list is a folder":       func(b *bench, _ *Order) { _ = os.MkdirAll(b.path("runs/t.jsonl"), 0o700) },
		"the list is a link": func(b *bench, _ *Order) {
			_ = os.Mkdir(b.path("runs"), 0o700)
			_ = os.Symlink(b.path("elsewhere"), b.path("runs/t.jsonl"))
		},
		"the slot is a link": func(b *bench, _ *Order) { _ = os.Symlink(b.path("elsewhere"), string(b.slot)) },
		"there is no folder for the slot": func(b *bench, o *Order) {
			o.Slot = Slot(b.path("gone/agent.lock"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			o := b.order("echo > started")
			spoil(b, &o)
			if r, err := Start(o); err == nil || errors.Is(err, ErrTaken) {
				t.Errorf("%+v, %v", r, err)
			}
			select {
			case <-o.Slot.Freed():
			case <-time.After(kit.Patience):
				t.Error("the slot stays taken")
			}
			for _, name := range []string{"started", "elsewhere"} {
				if _, err := os.Lstat(b.path(name)); err == nil {
					t.Error("an agent was started, or a link followed: there is ", name)
				}
			}
		})
	}
}

func TestAProgramThatIsNoShimStartsNobody(t *testing.T) {
	shimCalled = false
	defer func() { shimCalled = true }()
	if _, err := Start(newBench(t).order("true")); err == nil || !strings.Contains(err.Error(), "process.Shim") {
		t.Error(err)
	}
}

func TestTheFilesOfALaunchFollowNoLink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("precious", "keep me")
	conf := b.path("live/conf")
	if err := os.Symlink(b.path("precious"), conf); err != nil {
		t.Fatal(err)
	}
	o := b.order("cat live/conf")
	o.Launch.Files = map[string]string{conf: "settings", b.path("deep/er/conf"): "more"}
	if _, err := Start(o); err != nil {
		t.Fatal(err)
	}
	if r := b.over(); r.Said != "settings" {
		t.Errorf("the agent reads %q", r.Said)
	}
	info, err := os.Lstat(conf)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || b.text("precious") != "keep me" || b.text("deep/er/conf") != "more" {
		t.Errorf("%v %v, beside it %q", info.Mode(), err, b.text("precious"))
	}
}

func TestTheProgramIsFoundOnThePathOfTheAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := os.Mkdir(b.path("bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.write("bin/my-agent", "#!/bin/sh\necho found\n")
	if err := os.Chmod(b.path("bin/my-agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := b.order("")
	o.Launch.Argv, o.Launch.Env = []string{"my-agent"}, []string{"PATH=/nowhere" + string(filepath.ListSeparator) + b.path("bin")}
	if _, err := Start(o); err != nil {
		t.Fatal(err)
	}
	if r := b.over(); r.Said != "found" || r.Exit != 0 {
		t.Errorf("%+v", r)
	}
}

func TestASlotIsNamedByBranchAndDuty(t *testing.T) {
	t.Parallel()
	if got := Path("/m", "", string(agents.Reviewer)); got != "/m/live/agent-main-reviewer.lock" {
		t.Error(got)
	}
	if got := Path("/m", "fix", "worker"); got != "/m/live/agent-fix-worker.lock" {
		t.Error(got)
	}
	b := newBench(t)
	if o, taken := b.slot.Taken(); taken || o != (Occupant{}) {
		t.Errorf("a slot that never was is taken by %+v", o)
	}
	if err := b.slot.End(t.Context()); err != nil {
		t.Error(err)
	}
	<-b.slot.Freed()
	if _, err := os.Lstat(string(b.slot)); !errors.Is(err, os.ErrNotExist) {
		t.Error("who only looks has made the slot")
	}
}

// TestAnAgentWhoseSlotIsRemovedEnds: with the folder of its machine went all by which anybody could find it.
func TestAnAgentWhoseSlotIsRemovedEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("echo $$ > pid.tmp; mv pid.tmp pid; sleep 1000 & wait")
	b.eventually("it works", func() bool { return b.text("pid") != "" })
	agent, shim := b.pid("pid"), b.occupant().Shim
	if err := os.RemoveAll(b.path("live")); err != nil {
		t.Fatal(err)
	}
	b.eventually("it ends", func() bool { return !proc.Alive(agent) && !proc.Alive(shim) })
	if _, err := os.Lstat(b.path("live")); err == nil {
		t.Error("somebody has made its folder again")
	}
}
