package branch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// An Attempt is a branch at a glance, to be compared with others.
type Attempt struct {
	Branch    string         `json:"branch"`
	TaskID    string         `json:"task_id,omitempty"`
	Title     string         `json:"title,omitempty"`
	State     state.State    `json:"state,omitempty"`
	Since     time.Time      `json:"since,omitzero"` // when it entered its state
	Holder    string         `json:"holder,omitempty"`
	Check     string         `json:"check,omitempty"` // how the newest check ended: its id, its status, "" before the first
	Why       string         `json:"why,omitempty"`   // what the gate last said, or why the task failed
	Green     bool           `json:"green"`           // the checks passed on what the task holds or has handed in
	Checks    int            `json:"checks"`
	Score     *float64       `json:"score,omitempty"`      // of its work; nil where none counts
	Void      bool           `json:"score_void,omitempty"` // its newest score is of another tree or another gate
	Agent     string         `json:"agent,omitempty"`      // the executor of the branch, AGENT or AGENT:MODEL; "" for that of ferrus.toml
	Rejected  int            `json:"rejected"`             // by reviews
	Size      worktree.Size  `json:"size"`                 // of its change
	Took      time.Duration  `json:"-"`                    // from its beginning to its end, or to now
	Seconds   float64        `json:"seconds"`
	Selected  bool           `json:"selected,omitempty"`
	Merged    bool           `json:"merged,omitempty"`
	Edited    bool           `json:"edited,omitempty"`    // its files are no longer those that it has handed in, which Green, Score and Size are about
	Elsewhere bool           `json:"elsewhere,omitempty"` // its work tree is on another computer: Size, Green and Score are not known here
	Skipped   []string       `json:"skipped,omitempty"`   // which files were not read, and why: Size and Score are without them, and Green is false
	Error     string         `json:"error,omitempty"`     // why it cannot be read
	Snap      store.Snapshot `json:"-"`
}

// Number is the score as people read it, "-" where none counts.
func (a Attempt) Number() string {
	if a.Score == nil {
		return "-"
	}
	return strconv.FormatFloat(*a.Score, 'g', 6, 64)
}

// Attempts looks at branches of the project of e. What cannot be read says so; the others are looked at all the same.
func Attempts(ctx context.Context, e *engine.Engine, names []string) []Attempt {
	list := make([]Attempt, len(names))
	var readers errgroup.Group // it waits for git most of the time
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		readers.Go(func() error { list[i] = attempt(ctx, e, name); return nil })
	}
	_ = readers.Wait() // each says itself why it cannot be read
	return list
}

func attempt(ctx context.Context, e *engine.Engine, name string) Attempt {
	b, err := Open(e, name)
	if err != nil {
		return Attempt{Branch: name, Error: err.Error()}
	}
	defer b.Close()
	return AttemptOf(ctx, b)
}

// AttemptOf looks at one branch, or at the project's own task.
func AttemptOf(ctx context.Context, b *engine.Engine) Attempt {
	a := Attempt{Branch: b.Place().Branch}
	if err := a.read(ctx, b); err != nil {
		a.Error = err.Error()
	}
	return a
}

func (a *Attempt) read(ctx context.Context, b *engine.Engine) error {
	now, err := b.View()
	if err != nil {
		return err
	}
	t := now.Task
	a.Snap, a.TaskID, a.Title, a.State, a.Since, a.Holder = now, t.TaskID, t.Title, t.State, t.Since, t.ClaimedBy
	a.Checks, a.Rejected, a.Selected, a.Merged, a.Why = t.Issued.Checks, t.ReviewCycles, t.Selected, t.Merged != "", t.FailureReason
	a.Agent = t.Variant.String()
	if t.TaskID == "" {
		return nil
	}
	if t.Check.ID != "" {
		a.Check = t.Check.ID + " " + string(t.Check.Status)
	}
	if err := a.story(b, now); err != nil {
		return err
	}
	if err := a.measure(ctx, b, now); err != nil || a.Elsewhere || a.Merged || !t.Submitted() {
		return err
	}
	return a.edits(ctx, b, now)
}

// edits looks whether the files are still those that were handed in. Those that are not read count as they were.
func (a *Attempt) edits(ctx context.Context, b *engine.Engine, now store.Snapshot) error {
	if now.Task.Submission.Tree == "" {
		return nil
	}
	files, _, err := b.Inspect(ctx, now)
	a.Edited = err == nil && files != now.Task.Submission.Tree
	return err
}

// Measured is what [AttemptOf] knows of the files of a task: Elsewhere, Green, Score, Void and Size. It does not read the journal.
func Measured(ctx context.Context, b *engine.Engine) (a Attempt) {
	now, err := b.View()
	if err == nil && now.Task.TaskID != "" {
		err = a.measure(ctx, b, now)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (a *Attempt) measure(ctx context.Context, b *engine.Engine, now store.Snapshot) error {
	t := now.Task
	if a.Elsewhere = b.Place().Here() != nil; a.Elsewhere {
		return nil
	}
	tree, err := b.Tree(ctx, now)
	if err != nil {
		return err
	}
	files, skipped, err := handover.Work(ctx, tree, t)
	if err != nil {
		return refusal.Git(err)
	}
	a.Skipped = worktree.SkippedText(skipped, handover.Full(b.Place().Branch))
	a.Green = t.Check.Status == state.CheckGreen && t.Check.Tree == files && len(a.Skipped) == 0
	if t.Score.Counts(t, files) {
		a.Score = &t.Score.Value
	}
	a.Void = a.Score == nil && t.Score.Tree != ""
	if a.Size, err = tree.Size(ctx, t.BaseTree, files); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// story is what only lines of the journal tell: how long it took, and what the gate said. The lines are looked up, so that a long journal
// costs little more than a short one.
func (a *Attempt) story(b *engine.Engine, now store.Snapshot) error {
	t := now.Task
	began, err := b.Store().LineAt(t.Docs[state.TaskDoc].Off)
	if err == nil && began.State.Branch != t.Branch { // the task is older than its branch
		began, err = b.Store().First(func(l *store.Line) bool { return l.State.Branch == t.Branch })
	}
	if err != nil {
		return err
	}
	ended := t.Since
	if !t.State.Over() {
		ended = b.Now()
	}
	if began != nil {
		a.Took = ended.Sub(began.At)
	}
	a.Seconds = a.Took.Round(time.Millisecond).Seconds()
	if t.FailureReason == "" {
		a.Why, err = said(b.Store(), t)
	}
	return err
}

// said returns what the gate said in the newest check of a task, "" where it said nothing: the check runs or was abandoned.
func said(s store.Machine, t state.Task) (string, error) {
	nth, err := strconv.Atoi(strings.TrimPrefix(t.Check.ID, "k"))
	if err != nil {
		return "", nil // no check was started yet
	}
	task := t.Docs[state.TaskDoc].Off
	started, err := s.First(func(l *store.Line) bool { return l.Off >= task && l.State.Issued.Checks >= nth }) // the number never goes down in a task
	if started == nil || err != nil {
		return "", err
	}
	for l, err := range s.HistoryFrom(started.Off) {
		switch {
		case err != nil:
			return "", err
		case l.Event == state.CheckPassed || l.Event == state.CheckFailed || l.Event == state.CheckVoid:
			return l.Note, nil
		case l.State.Check.Status != state.CheckRunning:
			return "", nil
		}
	}
	return "", nil
}

// Group returns those of the names that are attempts at the same task as name: with "try.2" all of try.1, try.2 ...; name
// alone where it has no number.
func Group(names []string, name string) []string {
	stem, ok := stemOf(name)
	if !ok {
		return []string{name}
	}
	return slices.DeleteFunc(slices.Clone(names), func(other string) bool {
		s, ok := stemOf(other)
		return !ok || s != stem
	})
}

// Groups returns the names that have a number, those with the same name before it together, in the order of names.
func Groups(names []string) [][]string {
	var groups [][]string
	for _, name := range names {
		if _, ok := stemOf(name); !ok || slices.ContainsFunc(groups, func(g []string) bool { return slices.Contains(g, name) }) {
			continue
		}
		groups = append(groups, Group(names, name))
	}
	return groups
}

// stemOf is what stands before the number of try.2.
func stemOf(name string) (stem string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return "", false
	}
	return name[:i], true
}

// Unchosen returns why one of several attempts at a task is not merged yet, "" for one that may be
// merged: it was selected, or is the only approved one. t is its task, and view returns those of
// other branches.
func Unchosen(names []string, name string, t state.Task, view func(name string) (state.Task, error)) string {
	if t.Selected {
		return ""
	}
	var others []string
	for _, other := range Group(names, name) {
		if other == name {
			continue
		}
		is, err := view(other)
		switch {
		case err != nil:
		case is.Underway():
			return "other attempts at it are running"
		case is.Merged != "" || is.Selected:
			return other + " was taken"
		case is.State == state.Complete:
			others = append(others, other)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is approved, too: ferrus select shows both, and ferrus select NAME takes one", strings.Join(others, ", "))
}

// Open opens the machine of a branch of the project of e. The error is a *refusal.RefusedError of code UnknownBranch where there
// is none, of WrongState where its removal was cut off.
func Open(e *engine.Engine, name string) (*engine.Engine, error) {
	on, err := project.At(e.Place().Root, "").On(name)
	if err != nil {
		return nil, err
	}
	if keptName(on) != "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "the removal of " + name + " was cut off",
			Remedy: refusal.Say("ferrus branch --remove %s --force finishes it", name), Person: true}
	}
	return e.Beside(on)
}
