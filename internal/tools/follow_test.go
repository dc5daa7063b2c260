//go:build unix

package tools

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A follower is an agent that knows nothing but to do what next says. What it does of its own accord, a model's free
// will, stands in its will: calls in the place of a next, each made once.
type follower struct {
	*agent
	next string
	will map[string][]string // what to call instead of a next, in turn
	fail bool                // leaves the checks red
	w    *world
	log  []string
}

// step makes one call.
func (f *follower) step() Result {
	f.t.Helper()
	tool := f.next
	if turn := f.will[f.next]; len(turn) > 0 {
		tool, f.will[f.next] = turn[0], turn[1:]
	}
	if tool == "choose" {
		f.t.Fatalf("%s has nothing to choose; log %v", f.role, f.log)
	}
	r := f.call(tool, nil)
	f.log = append(f.log, fmt.Sprintf("%s:%s%s%s", tool, r.State, r.Status, r.Code))
	switch {
	case r.Code != "":
		f.t.Fatalf("%s followed next and was refused: %s; log %v", f.role, r.Message, f.log)
	case r.Next == "choose" && len(r.Allowed) == 0:
		f.t.Fatalf("%s is to choose of nothing", f.role)
	case r.Next != "choose" && r.Next != "stop" && !slices.Contains(r.Allowed, r.Next):
		f.t.Fatalf("next is %s, allowed %v; log %v", r.Next, r.Allowed, f.log)
	}
	if r.Status == "failed" && f.role == state.Executor && !f.fail {
		f.w.remove("red") // it fixes what the check says
	}
	f.next = r.Next
	return r
}

// A road is a way through the machine.
type road struct {
	name                 string
	supervisor, executor map[string][]string // wills
	red, fail            bool                // the checks are red at first; they stay so
	limits               string
	headless             bool
	answers              int // how many questions the person is asked
	end                  state.State
}

var approves = map[string][]string{"choose": {"approve"}}

var roads = []road{
	{name: "straight", supervisor: approves, end: state.Complete},
	{name: "red checks", supervisor: approves, red: true, end: state.Complete},
	{name: "submit at once", supervisor: approves, executor: map[string][]string{"check": {"submit"}}, end: state.Complete},
	{name: "consultation", supervisor: approves, executor: map[string][]string{"check": {"consult"}}, end: state.Complete},
	{name: "consultation when green", supervisor: approves, executor: map[string][]string{"submit": {"consult"}}, end: state.Complete},
	{name: "the executor asks", supervisor: approves, executor: map[string][]string{"check": {"ask_human"}}, answers: 1, end: state.Complete},
	{name: "the supervisor asks when consulted", supervisor: map[string][]string{"respond_consult": {"ask_human"}, "choose": {"approve"}},
		executor: map[string][]string{"check": {"consult"}}, answers: 1, end: state.Complete},
	{name: "the supervisor asks when reviewing", supervisor: map[string][]string{"choose": {"ask_human", "approve"}}, answers: 1, end: state.Complete},
	{name: "all ask", supervisor: map[string][]string{"respond_consult": {"ask_human"}, "choose": {"ask_human", "reject", "approve"}},
		executor: map[string][]string{"check": {"ask_human", "consult", "progress"}, "submit": {"ask_human"}}, answers: 4, red: true, end: state.Complete},
	{name: "rejection", supervisor: map[string][]string{"choose": {"reject", "approve"}}, end: state.Complete},
	{name: "rejected too often", supervisor: map[string][]string{"choose": {"reject", "reject"}}, limits: "max_review_cycles = 2", end: state.Failed},
	{name: "red too often", red: true, fail: true, limits: "max_check_retries = 3", end: state.Failed},
	{name: "red in the same way", supervisor: approves, red: true, limits: "max_same_failure = 1", answers: 1, end: state.Complete},
	{name: "headless", supervisor: approves, red: true, headless: true, end: state.Complete},
	{name: "headless, failing", red: true, fail: true, limits: "max_check_retries = 2", headless: true, end: state.Failed},
	{name: "headless, rejected too often", supervisor: map[string][]string{"choose": {"reject"}}, limits: "max_review_cycles = 1", headless: true, end: state.Failed},
}

// mostSteps is how many calls a road may take; a loop takes more.
const mostSteps = 120

// TestWhoeverFollowsNextGetsThrough plays every road with two agents that only follow next, and with a person who
// answers what is asked. Where headless agents stop for want of work, new ones come in, as a conductor
// would have it.
func TestWhoeverFollowsNextGetsThrough(t *testing.T) {
	for i, r := range roads {
		if !kit.Every(3, i) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := repository(t, "[limits]\n"+r.limits+"\n")
			if r.red {
				w.write("red", "")
			}
			person, answered := w.person(), 0
			join := func(role state.Role, will map[string][]string) *follower {
				return &follower{agent: w.enter(role, 1, func(o *Options) { o.Headless = r.headless }), next: "status", will: will, w: w, fail: r.fail}
			}
			both := []*follower{join(state.Supervisor, cloned(r.supervisor)), join(state.Executor, cloned(r.executor))}
			steps := 0
			var last Result
			over := func() bool {
				if r.headless {
					return both[0].next == "stop" && both[1].next == "stop" && last.State == r.end
				}
				return both[0].next == "stop"
			}
			for !over() {
				for i, f := range both {
					if f.next == "stop" {
						if last.State == r.end {
							continue
						}
						f = join(f.role, f.will)
						both[i] = f
					}
					if steps++; steps > mostSteps {
						t.Fatalf("no end after %d calls; supervisor %v, executor %v", mostSteps, both[0].log, both[1].log)
					}
					last = f.step()
				}
				if last.State == state.AwaitingHuman {
					answered++
					done, err := person.Answer(t.Context(), "", "Go on.")
					must(t, done, err)
					last.State = done.Task.State
					if !r.fail { // a check that outlived its call was red, and its outcome is the question
						w.remove("red")
					}
				}
			}
			st := both[0].call("status", nil)
			if st.State != r.end || answered != r.answers || st.Next != "stop" {
				t.Errorf("ended in %s with %d answers and next %s, not in %s with %d", st.State, answered, st.Next, r.end, r.answers)
			}
			for _, f := range both {
				for instead, left := range f.will {
					if len(left) > 0 && r.end == state.Complete {
						t.Errorf("%s never came to %v instead of %s", f.role, left, instead)
					}
				}
			}
			if exec := both[1].call("status", nil).Next; r.headless && exec != "stop" || !r.headless && exec != "wait_for_task" {
				t.Errorf("the executor gets %s in the end", exec)
			}
			t.Logf("%d calls", steps)
		})
	}
}

func cloned(will map[string][]string) map[string][]string {
	if will == nil {
		return map[string][]string{}
	}
	return maps.Clone(will)
}

// TestAHeadlessAgentStopsWhereAPersonIsWaitedFor: a run without a terminal does not wait.
func TestAHeadlessAgentStopsWhereAPersonIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	headless := func(o *Options) { o.Headless = true }
	sup, exe := w.enter(state.Supervisor, 1, headless), w.enter(state.Executor, 1, headless)
	if r := exe.call("wait_for_task", nil); r.Status != "idle" || r.Next != "stop" {
		t.Errorf("without a task: %s, next %s", r.Status, r.Next)
	}
	sup.do("create_task", nil)
	exe.do("wait_for_task", nil)
	if r := exe.do("ask_human", nil); r.Next != "stop" {
		t.Errorf("the executor asked, next is %s", r.Next)
	}
	done, err := w.person().Answer(t.Context(), "", "2")
	must(t, done, err)
	if r := exe.do("wait_for_answer", nil); r.Answer != "2. that" || r.Next != "check" {
		t.Errorf("answer %q, next %s", r.Answer, r.Next)
	}
	if r := exe.do("submit", nil); r.Next != "stop" {
		t.Errorf("after submit next is %s", r.Next)
	}
	sup.do("wait_for_review", nil)
	if r := sup.do("ask_human", nil); r.Next != "stop" {
		t.Errorf("the supervisor asked, next is %s", r.Next)
	}
}
