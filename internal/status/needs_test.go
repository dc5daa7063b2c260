package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// scenes are reports with what they need a person for and what a person can do then.
var scenes = map[string]struct {
	report Report
	kinds  []NeedKind
	acts   []string
	group  Group
}{
	"idle": {Report{State: state.Idle}, nil, nil, Idle},
	"a question": {Report{TaskID: "t", State: state.AwaitingHuman, Conductor: 7, Question: &Text{ID: "q1", By: "executor:codex:1", Text: "Which?", Options: []string{"a", "b"}}},
		[]NeedKind{NeedAnswer}, []string{"answer", "stop", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"a limit": {Report{TaskID: "t", State: state.AwaitingHuman, Question: &Text{ID: "q1", By: "ferrus", Text: "More?"}},
		[]NeedKind{NeedBudget}, []string{"answer", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"a review that a run sees to": {Report{TaskID: "t", State: state.Reviewing, Waiting: state.Waiting{For: "supervisor"}, Conductor: 7, Submission: &Text{ID: "s1"}},
		nil, []string{"approve", "reject", "stop", "reset", "rollback", "rollback-files", "branch"}, Waiting},
	"a review that nobody sees to": {Report{TaskID: "t", State: state.Reviewing, Waiting: state.Waiting{For: "supervisor"}, Submission: &Text{ID: "s1"}},
		[]NeedKind{NeedReview}, []string{"approve", "reject", "resume", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"nobody at work": {Report{TaskID: "t", State: state.Executing, Waiting: state.Waiting{For: "executor"}},
		[]NeedKind{NeedStopped}, []string{"resume", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"an executor at work": {Report{TaskID: "t", State: state.Executing, Waiting: state.Waiting{For: "executor"}, Holder: &holder{Agent: "executor:codex:1", Alive: true}},
		nil, []string{"send", "release", "reset", "rollback", "rollback-files", "branch"}, AtWork},
	"failed": {Report{TaskID: "t", State: state.Failed, FailureReason: "20 checks failed"},
		[]NeedKind{NeedFailed}, []string{"reopen", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"complete": {Report{TaskID: "t", State: state.Complete}, nil, []string{"reopen", "rollback", "rollback-files", "branch"}, Done},
	"a branch to merge": {Report{Branch: "x", TaskID: "t", State: state.Complete, Submission: &Text{ID: "s2"}},
		[]NeedKind{NeedMerge}, []string{"merge", "select", "reopen", "rollback", "rollback-files", "branch"}, NeedsYou},
	"a branch that conflicts": {Report{Branch: "x", TaskID: "t", State: state.Complete, Submission: &Text{ID: "s2"}, conflicts: []string{"a.txt"}},
		[]NeedKind{NeedConflict}, []string{"merge", "resolve", "select", "reopen", "rollback", "rollback-files", "branch"}, NeedsYou},
	"a merged branch": {Report{Branch: "x", TaskID: "t", State: state.Complete, merged: true}, nil,
		[]string{"reopen", "remove", "rollback", "rollback-files", "branch"}, Done},
	"another ferrus.toml": {Report{TaskID: "t", State: state.Executing, Conductor: 7, Notices: []string{"config_changed: checks.commands; the frozen value holds"}},
		[]NeedKind{NeedAgreement}, []string{"stop", "accept", "reset", "rollback", "rollback-files", "branch"}, NeedsYou},
	"a rollback that was cut off": {Report{TaskID: "t", State: state.Executing, finish: "ferrus rollback 3 --files --reason again"},
		[]NeedKind{NeedFinish}, []string{"finish"}, NeedsYou},
	"a delegate under review": {Report{Branch: "d", TaskID: "t", State: state.Reviewing, parent: state.Parent{Seq: 4, ID: "d1"}, Submission: &Text{ID: "s1"}},
		nil, []string{"reject", "rollback", "rollback-files"}, Waiting},
}

func TestNeedsAndActs(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			r := s.report
			var kinds []NeedKind
			needs := r.Needs()
			for _, n := range needs {
				kinds = append(kinds, n.Kind)
				if n.ID == "" || n.Text == "" || !strings.HasPrefix(n.Command, "ferrus ") {
					t.Errorf("%+v", n)
				}
			}
			if !slices.Equal(kinds, s.kinds) {
				t.Errorf("it needs %v, want %v", kinds, s.kinds)
			}
			var acts []string
			for _, a := range r.Acts() {
				acts = append(acts, a.Name)
				if r.Branch != "" && !slices.Contains(a.Args, r.Branch) {
					t.Errorf("%s is not about the branch: %q", a.Name, a.Args)
				}
			}
			if !slices.Equal(acts, s.acts) {
				t.Errorf("a person can %v, want %v", acts, s.acts)
			}
			if got := groupOf(&r, needs); got != s.group {
				t.Errorf("it stands among %s, want %s", got, s.group)
			}
			if again := r.Needs(); len(needs) > 0 && needs[0].ID != again[0].ID {
				t.Errorf("%s and %s are one need", needs[0].ID, again[0].ID)
			}
		})
	}
}

// TestNeedsAreSentencesForPeople: they name what is to be decided, and no id of an agent, a submission or a check.
func TestNeedsAreSentencesForPeople(t *testing.T) {
	size := &worktree.Size{Files: 4, Added: 57, Deleted: 2}
	failed := &checkReport{Used: 4, Max: 4, Failures: []checks.Command{{Line: "sh lint.sh"}}}
	for want, r := range map[string]Report{
		"How should a price look?":                       {State: state.AwaitingHuman, Question: &Text{ID: "q1", By: "executor:codex:1", Text: "# How should a price look?\n\nThe old shop wrote it so."}},
		"Ready for your review: 4 files, round 2":        {State: state.Reviewing, Waiting: state.Waiting{For: "supervisor"}, Submission: &Text{ID: "s2"}, size: size},
		"Ready for your review, round 1":                 {State: state.Reviewing, Waiting: state.Waiting{For: "supervisor"}, Submission: &Text{ID: "s1"}},
		"Approved, ready to merge, +57 -2":               {Branch: "x", State: state.Complete, size: size},
		"Approved, ready to merge":                       {Branch: "x", State: state.Complete},
		"total.go: shop has changed it, too":             {Root: "/home/ada/shop", Branch: "x", State: state.Complete, conflicts: []string{"total.go"}},
		"a, b, c and 1 more: shop has changed them, too": {Root: "/home/ada/shop", Branch: "x", State: state.Complete, conflicts: []string{"a", "b", "c", "d"}},
		"4 of 4 checks failed: sh lint.sh":               {State: state.Failed, Check: failed},
		"3 of 3 reviews rejected it":                     {State: state.Failed, Reviews: Budget{3, 3}},
		"Failed: no agent is left":                       {State: state.Failed, FailureReason: "no agent is left"},
		"No agent works on it":                           {State: state.Executing, Waiting: state.Waiting{For: "executor"}},
		"No agent works on it since the run ended":       {State: state.Executing, Waiting: state.Waiting{For: "executor"}, Spent: records.Spend{Runs: 1}},
	} {
		r.TaskID = "t"
		if n := r.Needs(); len(n) != 1 || n[0].Text != want {
			t.Errorf("%+v, want %s", n, want)
		}
	}
	if n := scenes["a question"].report; n.Needs()[0].By != "Codex" {
		t.Errorf("%s asks", n.Needs()[0].By)
	}
	score := func(f float64) Machine { return Machine{Branch: "fast.2", Score: &f} }
	for want, tasks := range map[string]map[string]Machine{
		"2 approved; fast.2 is best (655)": {"fast.1": score(1), "fast.2": score(655)},
		"2 approved: choose one":           {"fast.1": {}, "fast.2": score(655)},
	} {
		if n := choose(Need{}, []string{"fast.1", "fast.2"}, tasks); n.Text != want {
			t.Errorf("%q, want %q", n.Text, want)
		}
	}
}

// TestAnActThatGivesWorkContinuesTheRun: where agents of a run have worked, an answer, a rejection, a conflict that is sent back and
// another turn of an ended task are carried on by a run; what gives no work starts none, and agents of one's own are left alone.
func TestAnActThatGivesWorkContinuesTheRun(t *testing.T) {
	continues := map[string]bool{"answer": true, "reject": true, "resolve": true, "reopen": true}
	seen := map[string]bool{}
	for name, s := range scenes {
		for _, runs := range []int{0, 1} {
			r := s.report
			r.Spent.Runs = runs
			for _, a := range r.Acts() {
				got, want := slices.Contains(a.Args, "--resume"), runs > 0 && continues[a.Name]
				if end := slices.Index(a.Args, "--"); got != want || got && end >= 0 && slices.Index(a.Args, "--resume") > end {
					t.Errorf("%s after %d runs: %q", name, runs, a.Args)
				}
				seen[a.Name] = true
			}
		}
	}
	for name := range continues {
		if !seen[name] {
			t.Errorf("no scene offers %s", name)
		}
	}
}

// TestOnlyAStandingTaskOfARunIsContinued.
func TestOnlyAStandingTaskOfARunIsContinued(t *testing.T) {
	waits := Report{TaskID: "t", State: state.Executing, Waiting: state.Waiting{For: "executor"}}
	ran, conducted, asks := waits, waits, waits
	ran.Spent.Runs, conducted.Spent.Runs, asks.Spent.Runs = 1, 1, 1
	conducted.Conductor = 7
	asks.State, asks.Waiting.For = state.AwaitingHuman, "human"
	for name, c := range map[string]struct {
		r    Report
		want bool
	}{"no run ever": {waits, false}, "its run has ended": {ran, true}, "a run works": {conducted, false}, "it asks a person": {asks, false}} {
		if got := c.r.Resumable(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEachStepThatIsAnActIsOffered: what the status suggests to do is among the acts.
func TestEachStepThatIsAnActIsOffered(t *testing.T) {
	shows := []string{"log", "diff", "status", "run", "task"} // they show something, or create the next task
	for name, s := range scenes {
		r := s.report
		if r.parent != (state.Parent{}) {
			continue // the steps are those of its executor
		}
		for _, step := range next(&r) {
			verb := words(step.Command)[0]
			if slices.Contains(shows, verb) {
				continue
			}
			if !slices.ContainsFunc(r.Acts(), func(a Act) bool { return slices.Contains(a.Args, verb) }) {
				t.Errorf("%s: %s is suggested and not offered", name, step.Command)
			}
		}
	}
}
