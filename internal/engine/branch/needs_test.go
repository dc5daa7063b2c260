//go:build unix

package branch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A task as a line of the table below has it.
func was(id string, in state.State, change ...func(*state.Task)) state.Task {
	t := state.Task{TaskID: id, State: in, Submission: state.Submission{Tree: id}}
	for _, do := range change {
		do(&t)
	}
	return t
}

func isMerged(t *state.Task)   { t.Merged = "m" }
func selected(t *state.Task)   { t.Selected = true }
func beganWithX(t *state.Task) { t.BeganWith = []state.Beginning{{Branch: "x", TaskID: "t-x"}} }
func delegated(t *state.Task)  { t.Parent = state.Parent{ID: "d1"} }

// TestWhatBecameOfANeed says for each situation of a needed task what the one that needs it waits for: with automatic merges, and without. "" is for nothing.
func TestWhatBecameOfANeed(t *testing.T) {
	t.Parallel()
	type tasks = map[string]state.Task
	gone := "blocked: needs a, which was abandoned or removed and is not merged"
	for name, c := range map[string]struct {
		needs         string
		present, past tasks
		merges, not   string
		work          string // with which it begins without merges
	}{
		"it waits itself":          {"q", nil, nil, "waits for q, which is in the queue", "waits for q, which is in the queue", ""},
		"there is none":            {"a", nil, nil, "blocked: needs a, and there is no such task", "blocked: needs a, and there is no such task", ""},
		"a delegate":               {"a", tasks{"a": was("t-a", state.Complete, delegated)}, nil, "blocked: needs a, and there is no such task", "blocked: needs a, and there is no such task", ""},
		"a circle":                 {"self", nil, nil, "blocked: the needs form a circle: self, back, self", "blocked: the needs form a circle: self, back, self", ""},
		"it is worked on":          {"a=t-a", tasks{"a": was("t-a", state.Executing)}, nil, "waits for a", "waits for a", ""},
		"it is reviewed":           {"a", tasks{"a": was("t-a", state.Reviewing)}, nil, "waits for a", "waits for a", ""},
		"it is approved":           {"a=t-a", tasks{"a": was("t-a", state.Complete)}, nil, "waits for the merge of a", "", "a"},
		"it is merged":             {"a=t-a", tasks{"a": was("t-a", state.Complete, isMerged)}, nil, "", "", "a"},
		"it has failed":            {"a=t-a", tasks{"a": was("t-a", state.Failed)}, nil, "blocked: needs a, which has failed", "blocked: needs a, which has failed", ""},
		"it cannot be read":        {"unread", nil, nil, "waits for unread, which cannot be read: broken", "waits for unread, which cannot be read: broken", ""},
		"it was reset":             {"a=t-a", tasks{"a": was("", state.Idle)}, tasks{"t-a": was("t-a", state.Executing)}, gone, gone, ""},
		"removed, not merged":      {"a=t-a", nil, tasks{"t-a": was("t-a", state.Complete)}, gone, gone, ""},
		"merged and removed":       {"a=t-a", nil, tasks{"t-a": was("t-a", state.Complete, isMerged)}, "", "", "a"},
		"the same by its name":     {"a", nil, tasks{"a": was("t-a", state.Complete, isMerged)}, "", "", "a"},
		"another has its name":     {"a=t-a", tasks{"a": was("t-b", state.Executing)}, tasks{"t-a": was("t-a", state.Complete, isMerged)}, "", "", "a"},
		"another is done":          {"a=t-a", tasks{"a": was("t-b", state.Complete, isMerged)}, tasks{"t-a": was("t-a", state.Executing)}, gone, gone, ""},
		"one attempt is selected":  {"try=t-1+t-2", tasks{"try.1": was("t-1", state.Complete), "try.2": was("t-2", state.Complete, selected)}, nil, "waits for a choice among try.1, try.2: ferrus select", "", "try.2"},
		"the other is merged":      {"try.1=t-1+t-2", tasks{"try.1": was("t-1", state.Complete), "try.2": was("t-2", state.Complete, isMerged)}, nil, "", "", "try.2"},
		"no attempt is chosen":     {"try", tasks{"try.1": was("t-1", state.Complete), "try.2": was("t-2", state.Complete)}, nil, "waits for a choice among try.1, try.2: ferrus select", "waits for a choice among try.1, try.2: ferrus select", ""},
		"one is approved, one not": {"try", tasks{"try.1": was("t-1", state.Complete), "try.2": was("t-2", state.Executing)}, nil, "waits for try.2", "waits for try.2", ""},
		"one of them has failed":   {"try", tasks{"try.1": was("t-1", state.Complete), "try.2": was("t-2", state.Failed)}, nil, "waits for the merge of try.1", "", "try.1"},
		"it began with another":    {"a", tasks{"a": was("t-a", state.Complete, beganWithX), "x": was("t-x", state.Complete)}, nil, "waits for the merge of a", "", "x, a"},
		"which is reopened":        {"a", tasks{"a": was("t-a", state.Complete, beganWithX), "x": was("t-x", state.Executing)}, nil, "waits for the merge of a", "waits for x, with whose work a began", ""},
		"which is merged":          {"a", tasks{"a": was("t-a", state.Complete, beganWithX), "x": was("t-x", state.Complete, isMerged)}, nil, "waits for the merge of a", "", "a"},
		"which is another one":     {"a", tasks{"a": was("t-a", state.Complete, beganWithX), "x": was("t-y", state.Executing)}, nil, "waits for the merge of a", "", "a"},
		"two of one beginning": {"a, b", tasks{"a": was("t-a", state.Complete, beganWithX), "b": was("t-b", state.Complete, beganWithX), "x": was("t-x", state.Complete)}, nil,
			"waits for the merge of a", "", "x, a, b"},
		"what blocks comes first": {"a, b", tasks{"a": was("t-a", state.Executing), "b": was("t-b", state.Failed)}, nil, "blocked: needs b, which has failed", "blocked: needs b, which has failed", ""},
	} {
		for _, merges := range []bool{true, false} {
			var h queue.Head
			if err := h.AddNeeds(c.needs); err != nil {
				t.Fatal(err)
			}
			it := queue.Item{Name: "it", Head: h}
			if c.needs == "self" {
				it.Name, it.Needs[0].Name = "self", "back"
			}
			known := branch.NewTasks([]queue.Item{it, {Name: "q"}, {Name: "back", Head: queue.Head{Needs: []queue.Need{{Name: "self"}}}}})
			known.Merges, known.Unread["unread"] = merges, errors.New("broken")
			known.Names = []string{"unread"}
			for name, is := range c.present {
				known.Names, known.Present[name] = append(known.Names, name), is
			}
			slices.Sort(known.Names) // as the names of branches are
			for key, is := range c.past {
				is.Branch = "a"
				known.Past[key] = is
			}
			s := known.Standing(it)
			got, want := s.Waits, c.not
			if s.Blocked {
				got = "blocked: " + got
			}
			if merges {
				want = c.merges
			}
			var work []string
			for _, w := range s.Work {
				work = append(work, w.Branch)
			}
			if got != want || !merges && strings.Join(work, ", ") != c.work {
				t.Errorf("%s (merges %v): %q, want %q; it begins with %q, want %q", name, merges, got, want, work, c.work)
			}
		}
	}
}

// TestAConflictBlocksUntilTheWorkIsAnotherOne.
func TestAConflictBlocksUntilTheWorkIsAnotherOne(t *testing.T) {
	it := queue.Item{Name: "it", Head: queue.Head{Needs: []queue.Need{{Name: "a"}, {Name: "b"}}}}
	known := branch.NewTasks([]queue.Item{it})
	known.Names = []string{"a", "b"}
	known.Present["a"], known.Present["b"] = was("t-a", state.Complete), was("t-b", state.Complete)
	it.Conflict = queue.Conflict{Work: known.Standing(it).WorkID(), Branch: "b", Paths: "code.txt"}
	if s := known.Standing(it); !s.Blocked || s.Merge != "b" || s.Waits != "the work of b does not fit what else the task begins with: code.txt" {
		t.Errorf("it stands %+v", s)
	}
	changed := known.Present["b"]
	for what, change := range map[string]func(*state.Task){
		"another submission": func(is *state.Task) { is.Submission.Tree = "another" },
		"it is merged":       isMerged,
		"it is reopened":     func(is *state.Task) { is.State = state.Executing },
	} {
		is := changed.Clone()
		change(&is)
		known.Present["b"] = is
		if s := known.Standing(it); s.Blocked {
			t.Errorf("%s: %+v", what, s)
		}
	}
}

// TestOnlyWhatCanBeMetIsNeeded: a name that means nothing and one whose work will never be there are refused, and what a name means is recorded.
func TestOnlyWhatCanBeMetIsNeeded(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	h := p.Human()
	put := func(name string, needs ...string) (queue.Item, error) {
		return branch.Enqueue(h.Engine(), name, "Do "+name+".", branch.Queueing{Needs: needs})
	}
	enginetest.Branched(t, h, branch.Fork{Names: []string{"a", "idle"}, Own: true})
	id := enginetest.Must(p.On("a").Human().CreateTask(t.Context(), "Do a.", ""))(t).Task.TaskID
	enginetest.Must(put("b", "a"))(t)
	enginetest.Must(put("c", "b", "a", "b"))(t)
	for _, needs := range [][]string{{"nothing"}, {"a", "idle"}} {
		enginetest.Refused(t, enginetest.Second(put("d", needs...)), refusal.InvalidInput, "no such task")
	}
	enginetest.Refused(t, enginetest.Second(put("d", "../a")), refusal.InvalidInput, "no name of a task")
	list := enginetest.Must(queue.List(p.Path(".ferrus")))(t)
	if got := fmt.Sprint(list[0].Needs, list[1].Needs); len(list) != 2 || got != fmt.Sprintf("[a=%s] [b a=%s]", id, id) {
		t.Errorf("they need %s", got)
	}
	enginetest.Refused(t, branch.Requeue(h.Engine(), list[0], "", branch.Queueing{Needs: []string{"c"}}), refusal.InvalidInput, "form a circle: b, c, b")
	if err := branch.Requeue(h.Engine(), list[0], "", branch.Queueing{Needs: []string{"a"}, Priority: 9}); err != nil {
		t.Fatal(err)
	}
	if it := enginetest.Must(queue.Find(p.Path(".ferrus"), "b"))(t); it.Text != "Do b." || it.Priority != 9 || !it.Added.Equal(list[0].Added) {
		t.Errorf("%+v", it)
	}
	enginetest.Must(branch.Remove(t.Context(), h, "a", true))(t)
	enginetest.Refused(t, enginetest.Second(put("d", "a")), refusal.InvalidInput, "can never be taken: needs a, which was abandoned or removed")
}

// TestABranchBeginsWithTheWorkThatItNeeds: of all that it needs and of what those began with, each once, and it is merged after them. What it changes itself is
// compared with that. Work that conflicts, and a merge before its time, are refused.
func TestABranchBeginsWithTheWorkThatItNeeds(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Lived(map[string]string{"list.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	h := p.Human()
	begin := func(name string, needs ...string) (*enginetest.Machine, error) {
		it := queue.Item{Name: name}
		for _, need := range needs {
			it.Needs = append(it.Needs, queue.Need{Name: need})
		}
		tasks := enginetest.Must(branch.LookAt(h.Engine(), []queue.Item{it}, nil))(t)
		s := tasks.Standing(it)
		if s.Waits != "" {
			t.Fatalf("%s: %s", name, s.Waits)
		}
		f := branch.Fork{Names: []string{name}, Own: true}
		if err := f.Begin(t.Context(), h, s.Work); err != nil {
			return nil, err
		}
		enginetest.Branched(t, h, f)
		on := p.On(name)
		enginetest.Must(on.Human().CreateTask(t.Context(), "Do "+name+".", ""))(t)
		return on, nil
	}
	done := func(name, file, text string, needs ...string) {
		t.Helper()
		on := enginetest.Must(begin(name, needs...))(t)
		on.Does(file, text)
	}
	done("a", "list.txt", "a\n2\n3\n4\n5\n6\n7\n8\n9\n")
	done("b", "list.txt", "a\n2\n3\n4\nb\n6\n7\n8\n9\n", "a")
	done("c", "list.txt", "a\n2\n3\n4\n5\n6\n7\n8\nc\n", "a")
	on := enginetest.Must(begin("d", "b", "c"))(t)
	if got := on.Read("list.txt"); got != "a\n2\n3\n4\nb\n6\n7\n8\nc\n" {
		t.Errorf("it begins with %q", got)
	}
	if began := enginetest.View(t, on.Human()).Task.BeganWith; len(began) != 3 || began[0].Branch != "a" || began[1].Branch != "b" || began[2].Branch != "c" {
		t.Errorf("it began with %+v", began)
	}
	on.Does("d.txt", "d\n")
	if got := on.Engine().Changed(t.Context(), enginetest.View(t, on.Human()), enginetest.View(t, on.Human()).Task.BaseTree, enginetest.View(t, on.Human()).Task.Submission.Tree); fmt.Sprint(got) != "[d.txt]" {
		t.Errorf("it has changed %q", got)
	}
	done("e", "list.txt", "e\n2\n3\n4\n5\n6\n7\n8\n9\n")
	_, err := begin("f", "a", "e")
	enginetest.Refused(t, err, refusal.Conflict, "the work of e does not fit", "list.txt", "ferrus merge e")
	merge := func(name string) error {
		return enginetest.Second(branch.Merge(t.Context(), h, p.On(name).Human(), nil))
	}
	for i, name := range []string{"a", "b", "c"} {
		enginetest.Refused(t, merge("d"), refusal.WrongState, "d began with the work of "+name+", which is not merged", "ferrus merge "+name)
		if i == 2 { // its work is not wanted
			enginetest.Must(branch.Remove(t.Context(), h, name, true))(t)
		} else if err := merge(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := merge("d"); err != nil {
		t.Fatal(err)
	}
	if got := p.Read("list.txt") + p.Read("d.txt"); got != "a\n2\n3\n4\nb\n6\n7\n8\n9\nd\n" {
		t.Errorf("the project has %q", got)
	}
}
