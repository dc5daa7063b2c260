package terminal

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// during presses keys while the act of a key is carried out, and returns what lets that act end.
func (s *stage) during(key string, meanwhile ...string) (end func()) {
	s.t.Helper()
	_, cmd := s.Update(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
	if cmd == nil || len(s.jobs) != 1 || !s.jobs[0].begun {
		s.t.Fatalf("%s begins no act: %v", key, s.jobs)
	}
	s.press(meanwhile...)
	return func() { s.carry(cmd) }
}

// carriedOut are the names of the acts that a source has carried out.
func (f *fake) carriedOut() (names []string) {
	for _, a := range f.done {
		names = append(names, a.Name)
	}
	return names
}

// resumeAct has neither fields nor anything to lose.
var resumeAct = Act{Name: "resume", Label: "Resume", Args: []string{"--branch", "parser", "resume", "--headless"}, Runs: true}

// deserted is a night in which nobody works on the submission of parser.
func deserted(t *testing.T) (*stage, *fake) {
	t.Helper()
	src := night(t)
	d := src.details[Key{Task, "parser"}].Task
	d.Acts = append(d.Acts, resumeAct)
	s := onStage(t, src, 100, 30)
	s.press("n", "n")
	return s, src
}

// TestARejectionDuringAnActArrives: its form opens and takes the text while the act before it is carried out, and it follows that one.
func TestARejectionDuringAnActArrives(t *testing.T) {
	s, src := deserted(t)
	end := s.during("s", "r")
	s.shows("What is wrong", "Resume …")
	s.write("No tests")
	s.press("ctrl+s")
	s.shows("Resume … then Reject")
	if len(src.done) > 0 {
		t.Fatalf("%v is done", src.carriedOut())
	}
	end()
	if got := src.carriedOut(); !slices.Equal(got, []string{"resume", "reject"}) || src.values[1]["message"] != "No tests" {
		t.Errorf("%v %v", got, src.values)
	}
	s.shows("Reject: done")
	if len(s.jobs) > 0 {
		t.Errorf("left: %v", s.jobs)
	}
}

// TestActsOnDifferentTasksAreCarriedOutSideBySide, and a merge after what is done with its branch or with the project.
func TestActsOnDifferentTasksAreCarriedOutSideBySide(t *testing.T) {
	s, src := deserted(t)
	end := s.during("s")
	for s.key().Name != "speed" {
		s.press("j")
	}
	s.press("x", "y")
	if got := src.carriedOut(); !slices.Equal(got, []string{"stop"}) {
		t.Errorf("done before the other one has ended: %v", got)
	}
	end()
	if got := src.carriedOut(); !slices.Equal(got, []string{"stop", "resume"}) {
		t.Errorf("%v", got)
	}
	s.shows("parser: Resume: done")
	for name, c := range map[string]struct {
		first, then job
		waits       bool
	}{
		"one task":             {job{key: Key{Task, "parser"}, act: approveAct}, job{key: Key{Task, "parser"}, act: rejectAct}, true},
		"two tasks":            {job{key: Key{Task, "parser"}, act: approveAct}, job{key: Key{Task, "docs"}, act: Act{Name: "stop"}}, false},
		"two merges":           {job{key: Key{Task, "docs"}, act: mergeAct}, job{key: Key{Task, "other"}, act: Act{Name: "merge"}}, true},
		"the project's task":   {job{key: Key{Task, ""}, act: stopAct}, job{key: Key{Task, "docs"}, act: mergeAct}, true},
		"a new task":           {job{act: runAct}, job{key: Key{Task, ""}, act: stopAct}, true},
		"a new task, a branch": {job{act: runAct}, job{key: Key{Task, "parser"}, act: approveAct}, false},
		"two pipelines":        {job{key: Key{Pipeline, "a"}, act: Act{Name: "cancel"}}, job{key: Key{Pipeline, "b"}, act: Act{Name: "cancel"}}, false},
		"a key of the task":    {job{key: Key{Task, "docs"}, act: mergeAct}, job{key: Key{Task, "docs"}, press: "X"}, true},
		"a key of another":     {job{key: Key{Task, "docs"}, act: mergeAct}, job{key: Key{Task, "parser"}, press: "M"}, false},
	} {
		q := jobs{&c.first, &c.then}
		if n := len(q.begin()); n != map[bool]int{true: 1, false: 2}[c.waits] {
			t.Errorf("%s: %d begin", name, n)
		}
		q = q.without(&c.first)
		if q.begin(); len(q) != 1 || !q[0].begun {
			t.Errorf("%s: the second does not begin after the first", name)
		}
	}
}

// TestWhatNoLongerAppliesIsSaid, and nothing happens: the submission was replaced, or the item has gone.
func TestWhatNoLongerAppliesIsSaid(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"replaced": func(src *fake) {
			other := rejectAct
			other.Args = []string{"--branch", "parser", "reject", "--submission", "s3", "--message={message}"}
			src.details[Key{Task, "parser"}].Task.Acts = []Act{resumeAct, other}
		},
		"gone": func(src *fake) {
			s := src.details[Key{Task, "parser"}].Task
			s.Acts = []Act{resumeAct}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, src := deserted(t)
			end := s.during("s", "r")
			s.write("No tests")
			s.press("ctrl+s")
			change(src)
			end()
			s.shows("Reject: refused", "this is no longer possible")
			if got := src.carriedOut(); !slices.Equal(got, []string{"resume"}) {
				t.Errorf("%v", got)
			}
			s.press("esc")
			if d := s.drafts[draftOf(rejectAct)]; d["message"] != "No tests" {
				t.Errorf("the text is lost: %v", s.drafts)
			}
		})
	}
}

// TestAKeyWaitsForItsAct, which the act that is carried out makes possible; one that means nothing afterwards says so.
func TestAKeyWaitsForItsAct(t *testing.T) {
	stop := Act{Name: "stop", Label: "Stop", Args: []string{"--branch", "parser", "stop"}, Loses: "The run ends."}
	finish := Act{Name: "finish", Label: "Finish", Args: []string{"--branch", "parser", "finish"}}
	for name, c := range map[string]struct {
		key   string
		after []Act
		shown string
		done  []string
	}{
		"it is done":         {"f", []Act{finish}, "Finish: done", []string{"resume", "finish"}},
		"it is asked":        {"x", []Act{stop}, "Are you sure?", []string{"resume"}},
		"it is not possible": {"x", []Act{finish}, "x (stop) was not done: it is not possible now", []string{"resume"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, src := deserted(t)
			end := s.during("s", c.key)
			s.shows("Resume … then " + c.key)
			src.details[Key{Task, "parser"}].Task.Acts = append(c.after, resumeAct)
			end()
			s.shows(c.shown)
			if got := src.carriedOut(); !slices.Equal(got, c.done) || len(s.jobs) > 0 {
				t.Errorf("%v, left %v", got, s.jobs)
			}
		})
	}
	s, src := deserted(t)
	end := s.during("s", "x", "n") // another item is selected
	src.details[Key{Task, "parser"}].Task.Acts = []Act{resumeAct, stop}
	end()
	s.shows("x (stop) is possible now: parser")
	if s.dialog != nil {
		t.Error("a question is about an item that is not selected")
	}
	s.press("f") // of an item about which nothing is under way
	if len(s.jobs) > 0 {
		t.Errorf("%v", s.jobs)
	}
}

// TestARefusalLeavesTheFormOpen that the person fills in meanwhile, and is shown after it.
func TestARefusalLeavesTheFormOpen(t *testing.T) {
	s, src := deserted(t)
	src.outcome = Outcome{Exit: 3, Message: "the sandbox is missing", Remedy: "ferrus doctor shows it"}
	end := s.during("s", "r")
	s.write("No te")
	end()
	s.shows("No te", "error: Resume: refused; the reason follows")
	s.write("sts")
	s.press("esc")
	s.shows("Resume: refused", "the sandbox is missing", "ferrus doctor shows it")
	s.press("esc", "r")
	s.shows("No tests")
}

// TestASecondTextIsNotTheFirst: a form that is opened again is empty while its first text is on the way, and keeps the second.
func TestASecondTextIsNotTheFirst(t *testing.T) {
	s, src := deserted(t)
	s.press("t", "2")
	s.write("one")
	s.press("tab")
	s.write("first")
	var cmd tea.Cmd
	_, cmd = s.Update(special["ctrl+s"])
	s.press("t", "2")
	s.write("two")
	s.press("esc")
	s.carry(cmd)
	s.press("t")
	if got := s.dialog.(*form).values(); got["task"] != "two" || got["name"] != "" {
		t.Errorf("%v", got)
	}
	if len(src.values) != 1 || src.values[0]["task"] != "one" {
		t.Errorf("%v", src.values)
	}
}

// TestTheScreenClosesWhenItsActsAreDone: q cuts none off, and any other key keeps it open; ctrl+c closes at once.
func TestTheScreenClosesWhenItsActsAreDone(t *testing.T) {
	s, src := deserted(t)
	end := s.during("s", "r")
	s.write("No tests")
	s.press("ctrl+s", "q")
	if s.quit {
		t.Fatal("it is closed in an act")
	}
	s.shows("the screen closes when this is done", "Resume … then Reject")
	end()
	if got := src.carriedOut(); !s.quit || !slices.Equal(got, []string{"resume", "reject"}) {
		t.Errorf("closed: %v, done: %v", s.quit, got)
	}

	s, _ = deserted(t)
	end = s.during("s", "q", "j")
	if end(); s.quit {
		t.Error("it closes although a key was pressed since")
	}
	s, _ = deserted(t)
	if s.during("s", "ctrl+c"); !s.quit {
		t.Error("ctrl+c does not close it")
	}
	s, src = deserted(t)
	src.outcome = Outcome{Exit: 1, Message: "no"}
	end = s.during("s", "q")
	if end(); s.quit {
		t.Error("it closes, and nobody has seen the refusal")
	}
	s.shows("Resume: refused")
}

// TestAnEditorWaitsForActs: for it the program ends, and would cut them off.
func TestAnEditorWaitsForActs(t *testing.T) {
	s, _ := deserted(t)
	end := s.during("s", "r", "ctrl+e")
	if s.quit {
		t.Fatal("it is opened in an act")
	}
	s.shows("the editor opens when this is done")
	if end(); !s.quit || s.editing == nil {
		t.Error("it is not opened afterwards")
	}
	s, _ = deserted(t)
	end = s.during("s", "r", "ctrl+e", "esc")
	if end(); s.quit || s.editing != nil {
		t.Error("it is opened for a form that was closed")
	}
	s, _ = deserted(t)
	if s.during("s", "r", "ctrl+e", "ctrl+c"); !s.quit || s.editing != nil {
		t.Error("it is opened although the screen is closed")
	}
}

// TestAnUndoIsOfItsItem: a rollback of another one does not begin with its entry.
func TestAnUndoIsOfItsItem(t *testing.T) {
	s, _ := deserted(t)
	end := s.during("s")
	end()
	if s.shows("Resume: done"); s.undo.shown {
		t.Error("a run that was started can be undone")
	}
	s.press("y", "ctrl+s")
	s.shows("Approve: done. z undoes it.")
	s.press("n") // the project's own task
	s.press("b")
	if got := s.dialog.(*form).values()["seq"]; got != "" {
		t.Errorf("another task would be rolled back to entry %s", got)
	}
}
