package state

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full returns a task in which nothing is zero.
func full() Task {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	return Task{
		SchemaVersion: SchemaVersion, TaskID: "t-20260102-030405-abcd", Title: "Add <a> & b", Seq: 42, Epoch: 7,
		State: AwaitingHuman, CheckRetries: 1, ReviewCycles: 2, FailureReason: "r",
		Since: at, ClaimedBy: "executor:codex:1", Session: "7d", ClaimedAt: at,
		Paused: []Pause{
			{ID: "c1", Kind: Consult, State: Addressing, By: "executor:codex:1", Since: at},
			{ID: "q1", Kind: AskHuman, State: Consultation, By: "supervisor:claude-code:1", Since: at},
		},
		Check:        Check{ID: "k3", Status: CheckRunning, Tree: hex("4b"), Log: "logs/k3.log", Errors: 1, Same: 2, Sum: "5c"},
		Submission:   Submission{ID: "s1", Tree: hex("4b"), Base: hex("4a"), Patch: "logs/s1.patch"},
		Consultation: Consulting{ID: "c1", Answered: true},
		Issued:       Issued{Questions: 1, Consultations: 1, Checks: 3, Submissions: 1},
		Asked:        Asked{Executor: "q1", Supervisor: "q2", Budget: "q3"}, BudgetFrom: 12,
		Score:    Score{Value: 0.5, Tree: hex("4b"), Gate: sum("9f"), Log: "logs/score.log"},
		BaseTree: hex("4a"), BaseCommit: hex("5a"), Head: hex("5b"), HeadBranch: "main", SetUpTree: hex("4f"), Marks: []string{hex("6a"), hex("6b")}, Unpublished: "the host refuses it", Worktree: "/w", Pin: Pin{Off: 1, SHA256: sum("9f")},
		Assigned:  Assigned{Agent: "claude-code", Model: "opus", Off: 2, Was: "6c"},
		StandIns:  []StandIn{{Duty: "executor", Agent: "claude-code", Model: "opus", For: "codex", Why: "has reached its limit", Until: at}},
		Docs:      map[Doc]Ref{TaskDoc: {Off: 1, SHA256: sum("aa")}, ReviewDoc: {Off: 300, SHA256: sum("bb")}},
		Decisions: []Record{{ID: "q0", Off: 5}}, Progress: []Record{{ID: "p1", Off: 6}}, Consulted: []Record{{ID: "c0", Off: 7}},
		Messages:   []Message{{ID: "m9", To: "supervisor", Off: 9}},
		Unattended: []Record{{ID: "approve", Off: 8}}, Violations: 1, Branch: "main", UpdatedAt: at,
		Variant:  Variant{Agent: "claude-code", Model: "opus"},
		Selected: true, Merged: hex("4d"), Returning: FileMove{To: 3, From: "alt", Of: "d2", Tree: hex("4c")},
		Delegates: []Delegate{{ID: "d1", Branch: "d1-ab", Base: hex("4a"), Off: 9, Ended: DelegateFailed}, {ID: "d2", Branch: "d2-cd", Base: hex("4a"), Off: 10,
			Seq: 4, Decided: Verdict{On: "s1", What: RuledApprove, Off: 11}}},
		Parent: Parent{Branch: "try", Seq: 9, ID: "d3"}, BeganWith: []Beginning{{Branch: "first", TaskID: "t-20260102-030405-abce"}}, Issue: "https://github.com/me/p/issues/42",
		Extra: map[string]json.RawMessage{"zoo": json.RawMessage(`{"b":[1,2],"a":null}`), "ape": json.RawMessage(`"x"`)},
	}
}

func hex(pair string) string { return strings.Repeat(pair, 20) } // like the id of a tree
func sum(pair string) string { return strings.Repeat(pair, 32) } // like a SHA-256

func TestFullIsFull(t *testing.T) {
	v := reflect.ValueOf(full())
	for f := range v.Type().Fields() {
		if v.FieldByIndex(f.Index).IsZero() {
			t.Errorf("full leaves %s zero: say what it is when set", f.Name)
		}
	}
}

// TestWhatEachOpChanges compares a task in which everything is set with what is left of it.
func TestWhatEachOpChanges(t *testing.T) {
	want := map[string]string{
		"zeroChecks":    "check_retries",
		"zeroReviews":   "failure_reason review_cycles",
		"markAsked":     "consultation",
		"markAnswered":  "consultation",
		"dropLease":     "claimed_at claimed_by session",
		"countEdit":     "violations",
		"bumpEpoch":     "epoch",
		"dropCheck":     "check",
		"endMove":       "returning",
		"markSelected":  "selected",
		"loseDelegates": "delegates",
		"unmark":        "merged selected",
		"unassign":      "assigned",
		"wipe": "asked assigned base_commit base_tree budget_from check check_retries claimed_at claimed_by conflict_marks consultation consultations decisions delegates docs " +
			"failure_reason head head_branch issue issued merged messages paused paused_state pin progress returning review_cycles score selected session set_up_tree since stand_ins submission task_id title " +
			"unattended unpublished violations worktree",
	}
	for name, o := range allOps() {
		before, after := full(), full()
		before.Consultation.Answered = name == "markAsked"
		after.Consultation.Answered = name == "markAsked"
		before.Selected = name != "markSelected"
		after.Selected = before.Selected
		o.apply(&after)
		if got := strings.Join(changed(t, before, after), " "); got != want[name] {
			t.Errorf("%s changes %s\nwant %s", name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("no move does %s", name)
	}
}

func allOps() map[string]op {
	all := map[string]op{}
	for _, row := range table {
		for _, m := range row {
			for _, o := range m.do {
				all[o.name] = o
			}
		}
	}
	return all
}

// changed returns the keys of STATE.json in which two tasks differ.
func changed(t *testing.T, a, b Task) []string {
	t.Helper()
	var before, after map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(encode(t, a)), &before), json.Unmarshal([]byte(encode(t, b)), &after)); err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return string(before[k]) == string(after[k]) })
	return slices.Sorted(maps.Keys(all))
}

// TestWhoGoesOnForgetsItsPauses: a pause that outlived the way on would lead back into the past.
func TestWhoGoesOnForgetsItsPauses(t *testing.T) {
	for _, s := range States() {
		for ev, m := range table[s] {
			task := full()
			task.State, task.Returning = s, FileMove{}
			next, err := Step(task, ev, m.by[0], Limits{9, 9})
			if err == nil && m.then.verb == "go" && len(next.Paused) > 0 {
				t.Errorf("%s in %s keeps %v", ev, s, next.Paused)
			}
		}
	}
}

// TestAStepSharesNothing: a caller that writes into the result of a step must not write into the task before it, which may
// still be the answer to somebody's question.
func TestAStepSharesNothing(t *testing.T) {
	for _, s := range States() {
		before := full()
		before.State, before.Returning = s, FileMove{}
		was := encode(t, before)
		for _, a := range legal(before) {
			next, err := Step(before, a.ev, a.by, three)
			if err != nil {
				t.Fatal(err)
			}
			scribble(next)
			if got := encode(t, before); got != was {
				t.Fatalf("%s in %s shares memory with the task before:\n%s", a, s, cmp.Diff(was, got))
			}
		}
	}
}

func scribble(t Task) {
	for i := range t.Paused {
		t.Paused[i] = Pause{}
	}
	for _, list := range [][]Record{t.Decisions, t.Progress, t.Consulted, t.Unattended} {
		for i := range list {
			list[i] = Record{}
		}
	}
	for i := range t.Messages {
		t.Messages[i] = Message{}
	}
	for i := range t.Delegates {
		t.Delegates[i] = Delegate{}
	}
	for d := range t.Docs {
		t.Docs[d] = Ref{}
	}
}

// TestWhileFilesAreMovedNothingElseHappens: any act would use a work tree that is half of one tree and half of another.
func TestWhileFilesAreMovedNothingElseHappens(t *testing.T) {
	amid := []Event{RollbackBegun, Rollback, Merge, DelegateMerged, DelegateDone, Reset, Violation, Repair}
	for _, s := range States() {
		for ev, m := range table[s] {
			for _, by := range m.by {
				task := full()
				task.State = s
				_, err := Step(task, ev, by, Limits{9, 9})
				if got := err == nil; got != slices.Contains(amid, ev) {
					t.Errorf("%s by %s in %s: %v", ev, by, s, err)
				}
			}
		}
	}
}

// TestWhatARollbackBringsBack: all of the task but what may not go back.
func TestWhatARollbackBringsBack(t *testing.T) {
	now, was := full(), Task{SchemaVersion: 1, TaskID: "t", State: Consultation, Seq: 3, Epoch: 2, CheckRetries: 9, ClaimedBy: "x", Session: "y",
		Check: Check{ID: "k1", Status: CheckRunning}, Issued: Issued{Checks: 1}, Docs: map[Doc]Ref{TaskDoc: {Off: 9}}}
	got := now.Recall(was)
	if diff := strings.Join(changed(t, was, got), " "); diff != "ape began_with check claimed_by epoch issued parent pin schema_version seq session unattended updated_at variant violations zoo" {
		t.Errorf("brought back with other values: %s", diff)
	}
	if got.Check.Status != CheckAbandoned || got.Seq != now.Seq || got.Epoch != now.Epoch || got.Issued != now.Issued {
		t.Errorf("%+v", got)
	}
	scribble(got)
	if was.Docs[TaskDoc].Off != 9 {
		t.Error("it shares memory with the task before")
	}
}
