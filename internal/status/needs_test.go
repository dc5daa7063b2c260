package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
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
