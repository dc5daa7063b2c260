package engine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Submitting is what an executor hands in.
type Submitting struct {
	Summary      string
	Verification string
	Limitations  string // "" for none
	NoChange     string // why no file is changed; "" refuses a submission without a change
}

// A Submitted is what became of it: either Done with the submission, or the outcome of a gate that did not pass.
type Submitted struct {
	Done
	Gate     Checked
	Accepted bool
}

// Submit hands the work in. Work without any change is refused as InvalidInput unless it says why. A task
// reaches Reviewing only after its checks passed on the submitted tree: if they have not, they run first. A gate that outlives wait does not submit by itself; calling again then is immediate.
func (s *Session) Submit(ctx context.Context, in Submitting, wait time.Duration) (Submitted, error) {
	doc, err := in.render()
	if err != nil {
		return Submitted{}, err
	}
	ran := false
	for deadline := time.Now().Add(wait); ; {
		now, err := s.e.View()
		if err != nil {
			return Submitted{}, err
		}
		if err := s.refuseWhileDelegating(now); err != nil {
			return Submitted{}, err
		}
		tree, passedOn, err := s.passedOn(ctx, now, ran)
		if err != nil {
			return Submitted{}, err
		}
		// Where the executor has no work in hand, the table has the word: it knows a call that repeats itself too.
		if passedOn || !now.Task.State.InHand() && !s.untold(now) {
			if passedOn && tree != "" && tree == now.Task.BaseTree && in.NoChange == "" {
				return Submitted{}, emptyWork
			}
			if err := s.unresolved(ctx, now, passedOn, tree); err != nil {
				return Submitted{}, err
			}
			done, err := s.handIn(ctx, now, passedOn, tree, doc)
			return Submitted{Done: done, Accepted: err == nil}, err
		}
		out, err := s.Check(ctx, max(0, time.Until(deadline)))
		if err != nil {
			return Submitted{}, err
		}
		if out.Status != state.CheckGreen {
			return Submitted{Done: Done{Snapshot: out.Snapshot}, Gate: out}, nil
		}
		ran = true
	}
}

// emptyWork refuses a submission that its executor has not said to be empty: it may have worked in another folder.
var emptyWork = &refusal.RefusedError{Code: refusal.InvalidInput, Message: "no file differs from those that the task began with",
	Remedy: "change files in the work tree, then submit; if the task needs no change, submit with no_change, which says why"}

// Marked returns where a tree of the task still has marks of a conflict that ferrus has written, as path:line, separated by blanks; "" for
// nowhere.
func (e *Engine) Marked(ctx context.Context, now store.Snapshot, tree string) (string, error) {
	if len(now.Task.Marks) == 0 {
		return "", nil
	}
	t, err := e.Tree(ctx, now)
	if err != nil {
		return "", err
	}
	places, err := t.Marked(ctx, tree, now.Task.Marks)
	if err != nil {
		return "", refusal.Git(err)
	}
	return format.OneLine(strings.Join(places, " "), 600), nil
}

// unresolved refuses to hand in files with marks of a conflict that ferrus has written: checks may well pass with them.
func (s *Session) unresolved(ctx context.Context, now store.Snapshot, passedOn bool, tree string) error {
	if !passedOn {
		return nil
	}
	places, err := s.e.Marked(ctx, now, tree)
	if err != nil || places == "" {
		return err
	}
	return &refusal.RefusedError{Code: refusal.Conflict, Message: "marks of a conflict are left in the files: " + places,
		Remedy: "at each place keep what both sides need and delete the lines that begin with <<<<<<<, =======, >>>>>>>; then check and submit"}
}

// passedOn reports whether the newest check passed on the tree as it is now, and makes that tree durable. Without
// git nothing tells one tree from another: there only a gate that ran for this call counts.
func (s *Session) passedOn(ctx context.Context, now store.Snapshot, ran bool) (string, bool, error) {
	if !s.checked(now.Task) {
		return "", false, nil
	}
	tree, err := s.e.Tree(ctx, now)
	if err != nil {
		return "", false, err
	}
	if !tree.Git() {
		return "", ran, nil
	}
	id, err := tree.Snapshot(ctx)
	if err != nil {
		return "", false, refusal.Git(err)
	}
	return id, id == now.Task.Check.Tree, nil
}

// checked reports whether the session holds work that rests on a passed check, of whatever tree.
func (s *Session) checked(t state.Task) bool {
	return t.State == state.Checking && passed(t) && s.Holds(t)
}

// passed reports whether the newest check passed, and judged by the gate that is in force.
func passed(t state.Task) bool {
	return t.Check.Status == state.CheckGreen && t.Check.Gate == t.Pin.SHA256
}

// handIn commits the submission of a tree, if its checks passed.
func (s *Session) handIn(ctx context.Context, now store.Snapshot, passedOn bool, tree, doc string) (Done, error) {
	patch := "logs/" + now.Task.TaskID + "-" + nextSubmission(now.Task) + ".patch"
	if tree != "" {
		if err := s.e.handOver(ctx, now, passedOn, tree, patch); err != nil {
			return Done{}, err
		}
	} else {
		patch = ""
	}
	return s.commit(ctx, submitting(now.Task, passedOn, tree, doc, patch))
}

// submitting records a submission of tree; the newest check of looked passed on it.
func submitting(looked state.Task, passedOn bool, tree, doc, patch string) transition {
	id := nextSubmission(looked)
	return transition{
		event: state.Submit,
		docs:  map[state.Doc]string{state.SubmissionDoc: doc},
		check: func(now store.Snapshot) error {
			// A task that was paused when it was looked at may have come back to Checking since.
			if !passedOn || now.Task.Check != looked.Check || !passed(now.Task) {
				return &refusal.RefusedError{Code: refusal.TreeChanged, Message: "the check that passed is no longer the newest", Remedy: "call submit again"}
			}
			return nil
		},
		apply: func(now store.Snapshot, next *state.Task) {
			next.Issued.Submissions++
			next.Submission, next.Unpublished = state.Submission{ID: id, Tree: tree, Base: next.BaseTree, Patch: patch, Session: now.Task.Session}, ""
		},
	}
}

func nextSubmission(t state.Task) string { return "s" + strconv.Itoa(t.Issued.Submissions+1) }

// handOver writes what the reviewer reads: the work against the tree that the task began with. Before that it publishes what is submitted: a reviewer
// elsewhere must not wait for files that are nowhere.
func (e *Engine) handOver(ctx context.Context, now store.Snapshot, submitted bool, tree, name string) error {
	t, err := e.Tree(ctx, now)
	if err == nil && submitted {
		_, err = e.published.Push(ctx, t, now.Task, tree)
	}
	if err != nil {
		return err
	}
	return handover.WritePatch(ctx, t, e.place, now.Task.BaseTree, tree, name)
}

func (in Submitting) render() (string, error) {
	return handover.RenderDocument("the submission", []handover.Section{{Heading: "Summary", Arg: "summary", Text: in.Summary, Optional: false},
		{Heading: "Verification", Arg: "verification", Text: in.Verification, Optional: false}, {Heading: "Known limitations", Arg: "limitations", Text: in.Limitations, Optional: true},
		{Heading: "Why no file is changed", Arg: "no_change", Text: in.NoChange, Optional: true}})
}
