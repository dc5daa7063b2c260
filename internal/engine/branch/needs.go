package branch

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Tasks is what is known of the tasks that those in the queue need. How a task stands follows from it alone.
type Tasks struct {
	Merges  bool                  // ferrus merges approved work: what needs it waits for that
	Queued  map[string]queue.Item // the tasks that wait, by name; a pipeline is none
	Names   []string              // of the branches
	Present map[string]state.Task // of branches, by name
	Unread  map[string]error      // why those of other branches are not known
	Past    map[string]state.Task // that no branch has now, by id; the newest that a branch of a name had, by that name
}

// A Work is what a needed task has come to.
type Work struct {
	Branch string
	Task   state.Task
}

// A Standing says whether a task in the queue can be taken.
type Standing struct {
	Waits   string // for what it waits, in words; "" where it can be taken
	Blocked bool   // that comes about only if a person does something
	Need    string // the name that blocks it, "" for all of them
	Reopen  string // the branch whose task has failed, "" for none
	Merge   string // the branch whose work does not fit what else it is to begin with, "" for none
	Work    []Work // of all that it needs, and of what that began with, in the order of merging
}

// LookAt gathers what is known of the tasks that those in a queue need. It reads only branches that one of them names, with view, where that is not nil.
func LookAt(e *engine.Engine, items []queue.Item, view func(name string) (state.Task, error)) (*Tasks, error) {
	t := NewTasks(items)
	if !slices.ContainsFunc(items, func(it queue.Item) bool { return len(it.Needs) > 0 }) {
		return t, nil
	}
	conf, err := e.Config()
	if err != nil {
		return nil, refusal.Config(err)
	}
	t.Merges = conf.Branches.OnApprove == config.Merge
	if t.Names, err = project.Branches(e.Place().Root); err != nil {
		return nil, err
	}
	if view == nil {
		view = viewer(e)
	}
	t.gather(e.Place().Root, view)
	return t, nil
}

// viewer returns what reads the tasks of the branches of the project of e.
func viewer(e *engine.Engine) func(name string) (state.Task, error) {
	return func(name string) (state.Task, error) {
		b, err := Open(e, name)
		if err != nil {
			return state.Task{}, err
		}
		defer b.Close()
		now, err := b.View()
		return now.Task, err
	}
}

// NewTasks returns what the queue itself tells.
func NewTasks(items []queue.Item) *Tasks {
	t := &Tasks{Queued: map[string]queue.Item{}, Present: map[string]state.Task{}, Unread: map[string]error{}, Past: map[string]state.Task{}}
	for _, it := range items {
		if _, _, pipeline := it.Pipeline(); !pipeline {
			t.Queued[it.Name] = it
		}
	}
	return t
}

// gather reads the tasks that those in the queue need: the present ones with view, others in the project at root.
func (t *Tasks) gather(root string, view func(name string) (state.Task, error)) {
	var look func(names []string)
	look = func(names []string) {
		for _, name := range names {
			if _, known := t.Present[name]; known || t.Unread[name] != nil {
				continue
			}
			is, err := view(name)
			if err != nil {
				t.Unread[name] = err
				continue
			}
			t.Present[name] = is
			for _, b := range is.BeganWith {
				look(t.members(b.Branch))
			}
		}
	}
	for _, it := range t.Queued {
		for _, n := range it.Needs {
			look(t.members(n.Name))
			t.gatherPast(root, n)
		}
	}
}

// gatherPast looks up what of a need no branch has now.
func (t *Tasks) gatherPast(root string, n queue.Need) {
	look := func(key, id string, of func(branch string) bool) {
		if _, known := t.Past[key]; known {
			return
		}
		past, err := project.PastTask(root, of, id)
		if t.Past[key] = past; err != nil {
			t.Unread[n.Name] = err
		}
	}
	if _, waits := t.Queued[n.Name]; len(n.IDs) == 0 && !waits && t.IDs(n.Name) == nil {
		look(n.Name, "", func(branch string) bool { return branch == n.Name })
	}
	for _, id := range n.IDs {
		if !slices.ContainsFunc(t.present(n.Name), func(w Work) bool { return w.Task.TaskID == id }) {
			look(id, id, func(branch string) bool { return branch == n.Name || attempts(n.Name, branch) })
		}
	}
}

// attempts reports whether a branch is an attempt at the task that a need names, by the name of one attempt or of all.
func attempts(need, branch string) bool {
	stem, ok := stemOf(branch)
	of, one := stemOf(need)
	return ok && (stem == need || one && stem == of)
}

// members are the branches that a need means by its name.
func (t *Tasks) members(need string) (names []string) {
	for _, name := range t.Names {
		if name == need || !slices.Contains(t.Names, need) && attempts(need, name) {
			names = append(names, name)
		}
	}
	if len(names) == 1 && names[0] == need {
		return Group(t.Names, need)
	}
	return names
}

// present are the tasks of the branches that a need means. A delegate is a part of another task.
func (t *Tasks) present(need string) (list []Work) {
	for _, name := range t.members(need) {
		if is, known := t.Present[name]; known && is.TaskID != "" && !is.IsDelegate() {
			list = append(list, Work{name, is})
		}
	}
	return list
}

// IDs returns the ids of the task that a name means which does not wait in the queue, or of all attempts at it; nil where there is none. It is the present
// one, else the newest that there was.
func (t *Tasks) IDs(name string) (ids []string) {
	for _, w := range t.present(name) {
		if !slices.Contains(ids, w.Task.TaskID) {
			ids = append(ids, w.Task.TaskID)
		}
	}
	if past := t.Past[name]; ids == nil && past.TaskID != "" && !past.IsDelegate() {
		ids = []string{past.TaskID}
	}
	return ids
}

// Standing says whether a task can be taken, and else why not. What blocks it comes before what it waits for.
func (t *Tasks) Standing(it queue.Item) (all Standing) {
	if circle := t.circle(it.Name); circle != nil {
		return Standing{Waits: "the needs form a circle: " + strings.Join(circle, ", "), Blocked: true, Need: circle[1]}
	}
	for _, n := range it.Needs {
		one := t.met(n)
		if one.Blocked {
			one.Need = n.Name
			return one
		}
		if all.Waits == "" {
			all.Waits = one.Waits
		}
		for _, w := range one.Work {
			if !slices.ContainsFunc(all.Work, func(had Work) bool { return had.Task.TaskID == w.Task.TaskID && had.Branch == w.Branch }) {
				all.Work = append(all.Work, w)
			}
		}
	}
	if len(all.Work) > state.MaxBeginnings {
		return Standing{Waits: fmt.Sprintf("it needs the work of %d tasks, and %d is the most", len(all.Work), state.MaxBeginnings), Blocked: true}
	}
	if c := it.Conflict; all.Waits == "" && c.Work != "" && c.Work == all.WorkID() {
		return Standing{Waits: unfit(c.Branch, c.Paths), Blocked: true, Merge: c.Branch}
	}
	return all
}

// WorkID identifies the work, as it is now: 16 hexadecimal digits, "" for none.
func (s Standing) WorkID() string {
	if len(s.Work) == 0 {
		return ""
	}
	text := ""
	for _, w := range s.Work {
		text += w.Branch + " " + w.Task.Submission.Tree + " " + w.Task.Merged + "\n"
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]
}

// met says how a need stands.
func (t *Tasks) met(n queue.Need) Standing {
	waits := func(format string, args ...any) Standing { return Standing{Waits: fmt.Sprintf(format, args...)} }
	ids := n.IDs
	if len(ids) == 0 {
		if _, queued := t.Queued[n.Name]; queued {
			return waits("waits for %s, which is in the queue", n.Name)
		}
		ids = t.IDs(n.Name)
	}
	var list []Work
	for _, w := range t.present(n.Name) {
		if slices.Contains(ids, w.Task.TaskID) {
			list = append(list, w)
		}
	}
	for _, id := range ids {
		if past := t.Past[id]; past.Merged != "" {
			return Standing{Work: []Work{{past.Branch, past}}}
		}
	}
	if past := t.Past[n.Name]; past.Merged != "" && slices.Contains(ids, past.TaskID) {
		return Standing{Work: []Work{{past.Branch, past}}}
	}
	in := func(is func(state.Task) bool) (names []string) {
		for _, w := range list {
			if is(w.Task) {
				names = append(names, w.Branch)
			}
		}
		return names
	}
	for _, w := range list {
		switch {
		case w.Task.Merged != "":
			return Standing{Work: []Work{w}}
		case !t.Merges && w.Task.State == state.Complete && Unchosen(t.Names, w.Branch, w.Task, t.view) == "":
			return t.begun(w)
		}
	}
	for _, name := range append(t.members(n.Name), n.Name) {
		if err := t.Unread[name]; err != nil {
			return waits("waits for %s, which cannot be read: %s", name, format.OneLine(err.Error(), 200))
		}
	}
	approved := in(func(t state.Task) bool { return t.State == state.Complete })
	failed := in(func(t state.Task) bool { return t.State == state.Failed })
	switch underway := in(state.Task.Underway); {
	case len(underway) > 0:
		return waits("waits for %s", strings.Join(underway, ", "))
	case len(approved) > 1:
		return waits("waits for a choice among %s: ferrus select", strings.Join(approved, ", "))
	case len(approved) > 0:
		return waits("waits for the merge of %s", approved[0])
	case len(failed) > 0:
		return Standing{Waits: "needs " + failed[0] + ", which has failed", Blocked: true, Reopen: failed[0]}
	case len(ids) == 0:
		return Standing{Waits: "needs " + n.Name + ", and there is no such task", Blocked: true}
	}
	return Standing{Waits: "needs " + n.Name + ", which was abandoned or removed and is not merged", Blocked: true}
}

func (t *Tasks) view(name string) (state.Task, error) { return t.Present[name], t.Unread[name] }

// begun is the standing of a need whose approved work is not merged: what that began with comes before it.
func (t *Tasks) begun(w Work) (s Standing) {
	for _, b := range w.Task.BeganWith {
		is, err := t.view(b.Branch)
		switch {
		case err == nil && (is.TaskID != b.TaskID || is.Merged != ""): // it was removed, or is in the project
		case err == nil && is.State == state.Complete:
			s.Work = append(s.Work, Work{b.Branch, is})
		default:
			return Standing{Waits: fmt.Sprintf("waits for %s, with whose work %s began", b.Branch, w.Branch)}
		}
	}
	s.Work = append(s.Work, w)
	return s
}

// circle is the way by which a task in the queue needs itself, nil for none.
func (t *Tasks) circle(name string) []string {
	seen := map[string]bool{}
	var way func(at string) []string
	way = func(at string) []string {
		for _, n := range t.Queued[at].Needs {
			if len(n.IDs) > 0 || seen[n.Name] {
				continue
			}
			if n.Name == name {
				return []string{at, name}
			}
			seen[n.Name] = true
			if rest := way(n.Name); rest != nil {
				return append([]string{at}, rest...)
			}
		}
		return nil
	}
	return way(name)
}

// Unrecorded reports whether a need of a task names one that has left the queue without its id.
func (t *Tasks) Unrecorded(it queue.Item) bool {
	return slices.ContainsFunc(it.Needs, func(n queue.Need) bool {
		_, waits := t.Queued[n.Name]
		return len(n.IDs) == 0 && !waits && t.IDs(n.Name) != nil
	})
}

// Record writes the ids of needs that have none beside their names: a task that gets the name later is another one. ids returns nil for a name that is to
// stay as it is.
func Record(it queue.Item, ids func(name string) []string) error {
	return queue.Change(it, func(text string, h queue.Head) (string, queue.Head) {
		for i, n := range h.Needs {
			if len(n.IDs) == 0 {
				h.Needs[i].IDs = ids(n.Name)
			}
		}
		return text, h
	})
}

// Before returns the branch whose work is merged before that of t, because t began with it; "" for none.
func Before(t state.Task, view func(name string) (state.Task, error)) string {
	for _, b := range t.BeganWith {
		is, err := view(b.Branch)
		if err != nil && refusal.CodeOf(err) != refusal.UnknownBranch || err == nil && is.TaskID == b.TaskID && is.Merged == "" {
			return b.Branch
		}
	}
	return ""
}
