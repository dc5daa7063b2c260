//go:build unix

package clients

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// parts are what the delegates of a task do. The first asks, and is rejected once; the second is another agent's, and its
// client is killed; the third comes to nothing.
var parts = []errand{
	{file: "sky.txt", line: "It is azure."},
	{file: "rain.txt", line: "It pours."},
	{file: "wind.txt", line: "Nobody writes this."},
}

const cutTask = "Cut this into its parts, and give each to a delegate."

// TestAnExecutorDelegates: real clients as executor and as delegates, with questions, a rejection, a death and a failure on the
// way; the executor takes in what they have made, and submits the whole.
func TestAnExecutorDelegates(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" delegates", func(t *testing.T) { delegates(t, p.supervisor, p.executor) })
	}
}

func delegates(t *testing.T, supervisor, executor string) {
	r := newRig(t, supervisor, executor, model.Diligent(cut(supervisor), model.When(working(parts[0]), model.ConsultOnce("Which azure?")), idle(parts[2]),
		hangOnce(parts[1]), model.ReadPatch(), model.Work(part)))
	r.write("check.sh", "test -n \"$(git status --porcelain)\"\n")
	r.configure(config(supervisor, executor) + "\n[limits]\nmax_delegates = 3\nmax_executor_dispatches = 2\n")
	r.commit()
	c := r.conduct("run", "--headless", cutTask)
	victim := r.on("")
	kit.Eventually(t, "the second delegate to be in the middle of it", func() bool {
		return slices.ContainsFunc(r.model.Seen(), func(s model.Seen) bool {
			if s.Reply.Hang {
				victim = r.on(branchOf(s.Request))
			}
			return s.Reply.Hang
		})
	})
	r.slay(victim.clients(agents.Executor)...)
	<-c.done
	if c.code != 0 {
		t.Fatalf("exit code %d\n%s", c.code, &c.out)
	}
	if r.text("sky.txt") != "It is azure.\n" || r.text("rain.txt") != "It pours.\n" || r.text("wind.txt") != "" {
		t.Errorf("%q, %q, %q", r.text("sky.txt"), r.text("rain.txt"), r.text("wind.txt"))
	}
	counts := map[state.Event]int{}
	for _, e := range r.events() {
		counts[e]++
	}
	for event, want := range map[state.Event]int{state.Claim: 1, state.DelegateStarted: 3, state.DelegateMerged: 2, state.DelegateDone: 3, state.Submit: 1, state.Approve: 1} {
		if counts[event] != want {
			t.Errorf("%s happened %d times, want %d", event, counts[event], want)
		}
	}
	var ends []state.DelegateEnd
	for _, d := range r.now().Delegates {
		ends = append(ends, d.Ended)
		on := r.on(d.Branch)
		if want := map[string]string{"d1": executor, "d2": supervisor, "d3": executor}[d.ID]; !on.by(want) {
			t.Errorf("%s was not done by %s\n%s", d.ID, want, on.runs())
		}
		if on.started()[agents.Reviewer] > 0 {
			t.Errorf("%s had a reviewer of its own", d.ID)
		}
		on.gone()
	}
	if want := []state.DelegateEnd{state.DelegateComplete, state.DelegateComplete, state.DelegateFailed}; !slices.Equal(ends, want) {
		t.Errorf("the delegates have ended %v, want %v", ends, want)
	}
	r.gone()
}

// working reports whether a model has the work of one part.
func working(e errand) func(model.Request) bool {
	return func(r model.Request) bool { return strings.Contains(r.Packet().Task, e.text()) }
}

// idle is a client that leaves without doing its part.
func idle(e errand) model.Rule { return model.When(working(e), model.Answer(model.Say("I cannot."))) }

// hangOnce hangs the first executor of a part when its file is written.
func hangOnce(e errand) model.Rule {
	return model.When(func(r model.Request) bool {
		return working(e)(r) && model.Claimed(r) && r.Packet().Epoch <= first && len(r.Since()) == len(part(r, r.Packet()))
	}, model.Answer(model.Reply{Hang: true}))
}

// part writes the file of a part, and after a rejection what was asked for.
func part(r model.Request, work model.Told) []model.Call {
	told := ordered.FindStringSubmatch(work.Task)
	if told == nil {
		return nil
	}
	line := told[2]
	if told[1] == parts[0].file && work.Review == "" {
		line = "It is grey."
	}
	return r.WriteFile(filepath.Join(work.Worktree, told[1]), line+"\n")
}

var aboutDelegate = regexp.MustCompile(`Delegate (d\d+) `)

// cut delegates the parts, the second to another agent, and sees them through: it answers, rejects what is grey, and approves.
func cut(other string) model.Rule {
	return func(r model.Request) (model.Reply, bool) {
		last, _ := r.Last()
		if r.Packet().Task == "" || !strings.Contains(r.Packet().Task, cutTask) || last.Tool != "delegate" && !model.Claimed(r) {
			return model.Reply{}, false
		}
		use := func(args map[string]any) (model.Reply, bool) { return model.Use("ferrus/delegate", args), true }
		started := 0
		for _, c := range r.Calls() {
			if c.Tool == "ferrus/delegate" && c.Args["task"] != nil {
				started++
			}
		}
		if started < len(parts) {
			args := map[string]any{"task": parts[started].text()}
			if started == 1 {
				args["agent"] = other
			}
			return use(args)
		}
		id := ""
		if found := aboutDelegate.FindStringSubmatch(last.Message); found != nil {
			id = found[1]
		}
		switch last.Status {
		case "asking":
			return use(map[string]any{"id": id, "answer": "The azure of noon."})
		case "submitted":
			if id == "d1" && last.SubmissionID == "s1" {
				return use(map[string]any{"id": id, "reject": "It is azure, not grey."})
			}
			return use(map[string]any{"id": id, "approve": true})
		}
		if slices.ContainsFunc(last.Delegates, func(d model.Delegated) bool {
			return d.Status == "working" || d.Status == "submitted" || d.Status == "asking"
		}) {
			return use(nil)
		}
		return model.Reply{}, false
	}
}

// by reports whether all executors of a task were this agent.
func (r *rig) by(agent string) bool {
	r.t.Helper()
	runs, err := process.Runs(r.machine("runs/" + r.now().TaskID + ".jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(run process.Run) bool { return run.Agent != agent })
}
