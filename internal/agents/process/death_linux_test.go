package process

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/test/kit"
)

// marked are the processes that carry a mark in their environment.
func marked(mark string) []string {
	var found []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if text, err := os.ReadFile(path); err == nil && mark != "" && bytes.Contains(text, []byte(markName+"="+mark)) {
			found = append(found, path)
		}
	}
	return found
}

// family is an agent with a child in its group, a child in a session of its own, and a grandchild in one.
const family = `echo working
sh -c 'echo $$ > child; exec sleep 1000' &
setsid sh -c 'echo $$ > apart; exec sleep 1000' &
sh -c 'setsid sh -c "echo \$\$ > grand; exec sleep 1000" & exit' &
echo $$ > agent; wait; exec sleep 1000`

var kin = []string{"agent", "child", "apart", "grand"}

// members are the process ids of the family.
func (b *bench) members() (pids []int) {
	b.t.Helper()
	for _, name := range kin {
		pids = append(pids, b.pid(name))
	}
	return pids
}

func TestAnAgentIsEndedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end          func(Slot, context.Context) error
		cut, stopped bool
	}{"End": {Slot.End, true, false}, "Stop": {Slot.Stop, false, true}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.start(family)
			pids, mark := b.members(), b.occupant().Mark
			if err := c.end(b.slot, t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, taken := b.slot.Taken(); taken {
				t.Error("the slot is still taken")
			}
			if slices.ContainsFunc(pids, proc.Alive) || len(marked(mark)) > 0 {
				t.Errorf("left behind: %v", marked(mark))
			}
			r := b.over()
			if r.Cut != c.cut || r.Stopped != c.stopped || r.Signal != "SIGTERM" || !r.Over() || r.Error != "" {
				t.Errorf("written down as %+v", r)
			}
			if err := c.end(b.slot, t.Context()); err != nil || len(b.runs()) != 1 {
				t.Errorf("to end it again: %v", err)
			}
		})
	}
}

func TestWhatAnAgentLeavesBehindEndsWithIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`setsid sh -c 'echo $$ > daemon; trap "" TERM HUP INT; while :; do sleep 1000; done' & (sleep 0.05; echo bye > last) & until test -e daemon; do sleep 0.01; done; exit 4`)
	daemon := b.pid("daemon")
	if r := b.over(); r.Exit != 4 || r.Signal != "" || r.Error != "" {
		t.Errorf("written down as %+v", r)
	}
	if proc.Alive(daemon) {
		t.Error("its daemon lives on")
	}
	if b.text("last") != "bye\n" {
		t.Error("what ends by itself was not given the time to")
	}
}

// TestAnAgentThatReadsNothingStillEnds: its daemon holds the pipe of its input open, which is more than the pipe holds.
func TestAnAgentThatReadsNothingStillEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.order(`exec 3<&0; setsid sleep 1000 <&3 & exit 0`)
	o.Launch.Stdin = strings.Repeat("x", 1<<20)
	if _, err := Start(o); err != nil {
		t.Fatal(err)
	}
	if r := b.over(); r.Exit != 0 || r.Signal != "" {
		t.Errorf("written down as %+v", r)
	}
}

func TestAKilledShimTakesItsAgentWithIt(t *testing.T) {
	t.Parallel()
	n := 5
	if kit.Quick() {
		n = 2
	}
	b := newBench(t)
	var freed, dead []time.Duration
	for i := range n {
		for _, name := range kin {
			_ = os.Remove(b.path(name))
		}
		b.start(family)
		pids, who, free := b.members(), b.occupant(), b.slot.Freed()
		began := time.Now()
		hit(t, who.Shim, syscall.SIGKILL)
		select {
		case <-free:
		case <-time.After(kit.Patience):
			t.Fatal("the slot is not free")
		}
		freed = append(freed, time.Since(began))
		b.eventually("the agent is gone", func() bool { return !proc.Alive(pids[0]) })
		dead = append(dead, time.Since(began))
		if list := b.runs(); list[i].Over() {
			t.Fatal("who has written the end?")
		}
		r := b.settle()[i]
		if !r.Over() || r.Exit != -1 || r.Error == "" || r.Said != "working" || !r.Began() || r.Cut || r.Stopped {
			t.Errorf("settled as %+v", r)
		}
		if again := b.settle(); len(again) != i+1 || again[i] != r || b.runs()[i] != r {
			t.Errorf("settled again as %+v", again[i])
		}
		if i%2 == 0 { // what is left is ended by the next start, or by an end of the slot that is free
			next := b.start("true")
			if slices.ContainsFunc(pids, proc.Alive) {
				t.Error("the next agent started beside what the last one left")
			}
			b.over()
			if next.Name == r.Name {
				t.Error("the next run has the name of the last one")
			}
			b.write("runs/t.jsonl", strings.Join(strings.SplitAfter(b.text("runs/t.jsonl"), "\n")[:2*(i+1)], ""))
			_ = os.Remove(next.Log)
		} else if err := b.slot.End(t.Context()); err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(pids, proc.Alive) || len(marked(who.Mark)) > 0 || b.slot.occupant().Mark != "" {
			t.Errorf("left behind: %v", marked(who.Mark))
		}
	}
	slices.Sort(freed)
	slices.Sort(dead)
	t.Logf("from SIGKILL of the shim to a free slot: median %v, worst %v; to the death of the agent: median %v, worst %v",
		freed[n/2], freed[n-1], dead[n/2], dead[n-1])
}

func TestAnAgentOutlivesItsStarter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newTeller(t)
	p.send(t, b.order("echo one; until test -e go; do sleep 0.01; done; echo two; exit 5"))
	if said := p.says(); said != "started executor-1" {
		t.Fatal(said)
	}
	hit(t, p.cmd.Process.Pid, syscall.SIGKILL)
	p.says() // its pipe is closed: it is dead
	if _, taken := b.slot.Taken(); !taken {
		t.Fatal("the agent died with its starter")
	}
	b.write("go", "")
	if r := b.over(); r.Exit != 5 || r.Said != "two" || r.Error != "" || b.text("logs/agent-t-executor-1.log") != "one\ntwo\n" {
		t.Errorf("written down as %+v", r)
	}
}

// TestAStarterMayDieAtAnyMoment: then there is an agent with a whole record, or none and no record.
func TestAStarterMayDieAtAnyMoment(t *testing.T) {
	t.Parallel()
	n := 30
	if kit.Quick() {
		n = 8
	}
	b := newBench(t)
	o := b.order("echo $$ >> started; until test -e go; do sleep 0.01; done; echo done")
	agents := 0
	for i := range n {
		_ = os.Remove(b.path("go"))
		p := newTeller(t)
		p.send(t, o)
		time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond) // the moment of the death
		hit(t, p.cmd.Process.Pid, syscall.SIGKILL)
		_ = p.cmd.Wait()
		// A shim that has been started decides by itself; another starter finds the slot taken by it, or not.
		if _, err := Start(o); err == nil {
			agents++
		} else if err != ErrTaken {
			t.Fatal(err)
		}
		b.write("go", "")
		r := b.over()
		if r.Said != "done" || r.Error != "" || !r.Over() {
			t.Fatalf("round %d: written down as %+v", i, r)
		}
	}
	b.eventually("every record is whole", func() bool { return !slices.ContainsFunc(b.runs(), func(r Run) bool { return !r.Over() }) })
	if started, written := strings.Count(b.text("started"), "\n"), len(b.runs()); started != written || started < n {
		t.Errorf("%d agents in %d rounds, %d runs are written down", started, n, written)
	}
	t.Logf("%d of %d killed starters had started no agent", agents, n)
}

func TestADeafAgentIsKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`trap '' TERM INT HUP; echo $$ > agent; while :; do sleep 1000; done`)
	agent := b.pid("agent")
	began := time.Now()
	if err := b.slot.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < politely || proc.Alive(agent) {
		t.Errorf("ended after %v; lives: %v", took, proc.Alive(agent))
	}
	if r := b.over(); !r.Cut || r.Signal != "SIGKILL" {
		t.Errorf("written down as %+v", r)
	}
}

// TestASleepingShimIsNoShelter: neither it nor its agent can be asked.
func TestASleepingShimIsNoShelter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(family)
	pids, who := b.members(), b.occupant()
	hit(t, who.Shim, syscall.SIGSTOP)
	if err := b.slot.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, taken := b.slot.Taken(); taken || proc.Alive(who.Shim) || slices.ContainsFunc(pids, proc.Alive) || len(marked(who.Mark)) > 0 {
		t.Errorf("left behind: %v", marked(who.Mark))
	}
	if r := b.settle()[0]; !r.Over() || r.Exit != -1 {
		t.Errorf("settled as %+v", r)
	}
}

func TestASleepingAgentIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`echo $$ > agent; exec sleep 1000`)
	agent := b.pid("agent")
	hit(t, agent, syscall.SIGSTOP)
	if err := b.slot.End(t.Context()); err != nil || proc.Alive(agent) {
		t.Errorf("%v; lives: %v", err, proc.Alive(agent))
	}
}

func TestTheEndIsNotWaitedForLongerThanTheCallerWants(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`trap '' TERM; echo $$ > agent; while :; do sleep 1000; done`)
	agent := b.pid("agent")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := b.slot.End(ctx); err != context.DeadlineExceeded || !proc.Alive(agent) {
		t.Errorf("%v; lives: %v", err, proc.Alive(agent))
	}
}
