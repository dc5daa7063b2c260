package terminal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

func (s *stage) shows(texts ...string) {
	s.t.Helper()
	shown := ansi.Strip(s.View().Content)
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			s.t.Errorf("%q is not on the screen:\n%s", text, shown)
		}
	}
}

func (s *stage) key() Key { it, _ := s.list.selected(); return it.key }

// TestOneKeyGoesToTheNextNeed, and from the last one to the first.
func TestOneKeyGoesToTheNextNeed(t *testing.T) {
	s := onStage(t, night(t), 120, 40)
	for _, want := range []string{"docs", "parser", "", "docs"} {
		s.press("n")
		if s.key() != (Key{Task, want}) {
			t.Errorf("%v is selected, not %q", s.key(), want)
		}
	}
	s.shows("Describe the flags", "M merge")
	s = onStage(t, &fake{overview: night(t).overview}, 120, 40)
	s.overview.Needs = nil
	s.takeOverview(overviewMsg{overview: s.overview})
	s.press("n")
	s.shows("nothing needs you")
}

// TestTheSelectionStaysOnItsItem when others come and go.
func TestTheSelectionStaysOnItsItem(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 120, 40)
	for s.key().Name != "speed" {
		s.press("j")
	}
	src.overview.Machines = slices.DeleteFunc(src.overview.Machines, func(m status.Machine) bool { return m.Branch == "docs" || m.Branch == "parser" })
	s.press("ctrl+r")
	s.send(overviewMsg{overview: src.overview})
	if s.key() != (Key{Task, "speed"}) {
		t.Errorf("%v is selected", s.key())
	}
	src.overview.Machines = src.overview.Machines[:1]
	s.send(overviewMsg{overview: src.overview})
	if _, ok := s.list.selected(); !ok {
		t.Error("nothing is selected")
	}
	s.shows("Needs you 1")
}

// TestEveryNeedOfAnItemIsShown: those of its task, and those of the project that its list alone has.
func TestEveryNeedOfAnItemIsShown(t *testing.T) {
	src := night(t)
	src.overview.Needs = append([]status.Need{{ID: "trust", Kind: status.NeedAgreement, Text: "You have not agreed to what the project runs.", Command: "ferrus trust"}}, src.overview.Needs...)
	s := onStage(t, src, 120, 40)
	s.shows("Sum is used by two programs outside of this reposito…", "? Sum is used by two", "~ You have not agreed to what the project runs.", "ferrus trust")
}

// TestAnAnswerIsAnOptionByItsNumber or a text of one's own.
func TestAnAnswerIsAnOptionByItsNumber(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.press("a", "2")
	s.press("a", "down", "down", "enter")
	s.press("a", "0")
	s.write("only if 2 agree")
	s.press("ctrl+s")
	var got []string
	for _, v := range src.values {
		got = append(got, v["answer"])
	}
	if want := []string{"2", "3", "only if 2 agree"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !src.done[0].Same(answerAct) {
		t.Errorf("%v", src.done[0])
	}
	s.shows("14:00 Answer: done. z undoes it.")
}

// TestADigitAnswersTheQuestionThatIsShown in the list; in the right pane, and where its options are not on the screen, it turns to a tab.
func TestADigitAnswersTheQuestionThatIsShown(t *testing.T) {
	for _, c := range []struct {
		width, height int
		keys, want    []string
	}{
		{80, 24, []string{"2"}, []string{"2"}},
		{120, 40, []string{"3"}, []string{"3"}},
		{120, 40, []string{"]", "2"}, nil},
		{120, 40, []string{"tab", "2"}, nil},
		{80, 24, []string{"4"}, nil},
		{80, 24, []string{"j", "2"}, nil},
		{80, 10, []string{"2"}, nil},
	} {
		src := night(t)
		s := onStage(t, src, c.width, c.height)
		s.press(c.keys...)
		var got []string
		for _, v := range src.values {
			got = append(got, v["answer"])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%dx%d %v: %q, want %q", c.width, c.height, c.keys, got, c.want)
		}
	}
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.press("0")
	s.write("only if 2 agree")
	s.press("ctrl+s")
	if len(src.values) != 1 || src.values[0]["answer"] != "only if 2 agree" {
		t.Errorf("%v", src.values)
	}
}

// TestAQuestionHasTheWholeScreen of one pane: its text scrolls, what was typed stays, and n goes on to the next need.
func TestAQuestionHasTheWholeScreen(t *testing.T) {
	src := night(t)
	src.details[Key{Task, ""}].Task.Report.Question.Text = "Sum is used by two programs outside of this repository.\n" + strings.Repeat("one\n", 40) + "the last line"
	s := onStage(t, src, 80, 24)
	s.press("enter")
	s.shows("‹ Rename the public function", "question 1 of 1 · 12 min", "1  Keep the old name too", "0  in your own words:", "Codex asks. It goes on", "1-3 answer")
	for range 10 {
		s.press("pgdown")
	}
	s.shows("the last line", "? Sum is used", "0  in your own words:")
	s.press("0")
	s.write("mine: 2")
	s.shows("┌─ your answer", "mine: 2", "ctrl+s send")
	s.press("esc", "0")
	s.shows("mine: 2")
	s.press("up", "n")
	if s.dialog != nil || s.key().Name != "docs" || len(src.done) > 0 {
		t.Errorf("%v is selected, %v is done", s.key(), src.done)
	}
}

// TestGroupsFoldWhereSpaceIsShort: enter opens one, esc folds it again, and a filter finds what is in them. F filters the needs.
func TestGroupsFoldWhereSpaceIsShort(t *testing.T) {
	s := onStage(t, busy(t), 80, 24)
	s.shows("Queue 2   Pipelines 1   Branches 6   Done today 2")
	s.press("G", "k", "enter")
	s.shows(" Branches 6", "▌· fast.1")
	s.press("esc")
	s.shows("Pipelines 1   Branches 6")
	s.press("/")
	s.write("t-b")
	s.shows("List the cart")
	s.press("esc", "g", "F", "F")
	s.shows("Needs you 9  all · questions 2 · [verdicts 3] · trouble 4", "Print a receipt")
	if shown := ansi.Strip(s.View().Content); strings.Contains(shown, "Show prices in euro ") {
		t.Errorf("a question is there:\n%s", shown)
	}
}

// TestWhatLosesSomethingIsAsked: nothing but y does it.
func TestWhatLosesSomethingIsAsked(t *testing.T) {
	src := night(t)
	for _, no := range []string{"n", "esc", "enter", "q", "space"} {
		s := onStage(t, src, 80, 24)
		s.press("x")
		s.shows("Are you sure?", "The run and its agents end.")
		if s.press(no); len(src.done) > 0 || s.quit {
			t.Errorf("%s has done %v", no, src.done)
		}
	}
	s := onStage(t, src, 80, 24)
	s.press("x", "y")
	if len(src.done) != 1 || !src.done[0].Same(stopAct) {
		t.Errorf("%v", src.done)
	}
}

// TestARollbackReturnsToTheEntryUnderTheCursor, after its fields and its question.
func TestARollbackReturnsToTheEntryUnderTheCursor(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.press("[", "g", "j", "b", "tab")
	s.write("too fast")
	s.press("enter")
	s.shows("Are you sure?")
	s.press("y")
	if len(src.done) != 1 || src.values[0]["seq"] != "20" || src.values[0]["reason"] != "too fast" {
		t.Errorf("%v %v", src.done, src.values)
	}
}

// TestARequiredFieldIsAskedFor, and a closed form keeps what was typed.
func TestARequiredFieldIsAskedFor(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.press("n", "n", "r", "ctrl+s")
	s.shows("What is wrong is required")
	s.write("No tests")
	s.press("esc")
	if len(src.done) > 0 {
		t.Fatalf("%v", src.done)
	}
	s.press("r", "ctrl+s")
	if len(src.done) != 1 || src.values[0]["message"] != "No tests" || !src.done[0].Same(rejectAct) {
		t.Errorf("%v %v", src.done, src.values)
	}
}

// TestARefusalIsShownWhole, and nothing of the form is lost.
func TestARefusalIsShownWhole(t *testing.T) {
	src := night(t)
	src.outcome = Outcome{Exit: 3, Message: "submission s2 is not the present one, which is s3", Remedy: "ferrus status shows the task as it is now"}
	s := onStage(t, src, 80, 24)
	s.press("n", "n", "r")
	s.write("No tests")
	s.press("ctrl+s")
	s.shows("Reject: refused", "submission s2 is not the present one", "ferrus status shows the task as it is now")
	s.press("esc", "r")
	s.shows("No tests")
}

// TestAnErrorOfReadingIsSaid, whatever was read, and the screen stays.
func TestAnErrorOfReadingIsSaid(t *testing.T) {
	err := errors.New("the journal is damaged")
	for _, msg := range []tea.Msg{overviewMsg{err: err}, detailMsg{key: Key{Task, ""}, err: err}, changedMsg{err}} {
		s := onStage(t, night(t), 80, 24)
		s.send(msg)
		s.shows("error: the journal is damaged", "Rename the public function")
	}
}

// TestStateThatWasNotMadeHereIsNamed for as long as it is shown.
func TestStateThatWasNotMadeHereIsNamed(t *testing.T) {
	src := night(t)
	src.overview.Foreign = errors.New("the journal was made on another machine")
	onStage(t, src, 80, 24).shows("not made here, shown as text only: the journal was made")
	var out strings.Builder
	if err := Plain(t.Context(), src, "adder", strings.NewReader(""), &out); err != nil || !strings.Contains(out.String(), "not made here") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestALateAnswerIsNotShown: the detail, the patch and the output of an item that is no longer selected.
func TestALateAnswerIsNotShown(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 120, 40)
	s.press("n", "2")
	for _, late := range []tea.Msg{detailMsg{key: Key{Task, "speed"}, detail: src.details[Key{Task, "speed"}]}, diffMsg{key: Key{Task, "speed"}, text: "+of another"}} {
		s.send(late)
		if shown := ansi.Strip(s.View().Content); strings.Contains(shown, "of another") {
			t.Errorf("%T is shown:\n%s", late, shown)
		}
	}
	if s.detail != src.details[Key{Task, "docs"}] {
		t.Error("the detail is another one")
	}
}

// TestAnOlderPatchIsNotShown although it was read for longer than a newer one.
func TestAnOlderPatchIsNotShown(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 120, 40)
	s.press("n", "2")
	key := Key{Task, "docs"}
	older := s.reads + 1
	s.send(tabMsg{older + 1, diffMsg{key: key, text: "+newer"}})
	s.send(tabMsg{older, diffMsg{key: key, text: "+older"}})
	s.shows("+newer")
}

// TestAnOverviewIsReadOnceAtATime, and once more after changes in between.
func TestAnOverviewIsReadOnceAtATime(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	before := src.reads
	first := s.loadOverview()
	for range 5 {
		if s.loadOverview() != nil {
			t.Fatal("it is read twice at a time")
		}
	}
	s.carry(first)
	if n := src.reads - before; n != 2 {
		t.Errorf("it was read %d times", n)
	}
}

// TestKeysOfTheScreenAndOfActsDiffer: an act with the key of the screen could not be reached.
func TestKeysOfTheScreenAndOfActsDiffer(t *testing.T) {
	l := &list{shown: make([]item, 3), height: 9}
	for _, k := range actKeys {
		if screenKeys[k.key] != nil || l.press(k.key) || (&scroll{}).press(k.key) {
			t.Errorf("%s of %s has another meaning", k.key, k.act)
		}
	}
}

// TestTheFilterOfThePaneInFocus keeps what holds its text, whatever the case.
func TestTheFilterOfThePaneInFocus(t *testing.T) {
	s := onStage(t, night(t), 120, 40)
	s.press("/")
	s.write("SPEED")
	s.press("enter")
	if len(s.list.shown) != 2 || s.key().Name != "speed" {
		t.Errorf("%d items, %v", len(s.list.shown), s.key())
	}
	s.press("esc")
	if len(s.list.shown) != 8 {
		t.Errorf("%d items after esc", len(s.list.shown))
	}
	s.press("[", "tab", "/")
	s.write("rollback")
	s.press("enter")
	if j := s.tabs[5].(*journalTab); len(j.rows) != 1 || j.seq() != 23 {
		t.Errorf("%d rows, entry %d", len(j.rows), j.seq())
	}
}

// TestAnEditedTextReturnsToItsForm: the program ends for the editor, and the form is still there.
func TestAnEditedTextReturnsToItsForm(t *testing.T) {
	s := onStage(t, night(t), 80, 24)
	s.press("n", "n", "r")
	s.write("No")
	s.press("ctrl+e")
	if !s.quit || s.editing == nil {
		t.Fatal("the editor is not asked for")
	}
	s.edited("No tests\nat all", nil)
	s.shows("No tests", "at all")
	s.edited("", errors.New("no such editor"))
	s.shows("error: no such editor", "No tests")
}

// TestPlainGoesLineByLine through a need, its answer and a refusal.
func TestPlainGoesLineByLine(t *testing.T) {
	src := night(t)
	var out strings.Builder
	in := "next\nnext\nacts\nact 2\nToo long\nchanges\nchecks\nnonsense\n99\nact 9\nquit\n"
	if err := Plain(t.Context(), src, "adder", strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if len(src.done) != 1 || !src.done[0].Same(rejectAct) || src.values[0]["message"] != "Too long" {
		t.Errorf("%v %v", src.done, src.values)
	}
	for _, want := range []string{"needs you:\n1. project", "Parse hexadecimal numbers", "2. Reject\n", "+func Add(numbers ...int) int {", "no check", `"nonsense" is not known`, "there is no item 99", "acts lists them"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not there:\n%s", want, out.String())
		}
	}
}

// TestPlainAsksBeforeItLoses anything.
func TestPlainAsksBeforeItLoses(t *testing.T) {
	for answer, want := range map[string]int{"no": 0, "": 0, "yes": 1} {
		src := night(t)
		if err := Plain(t.Context(), src, "adder", strings.NewReader("1\nact 2\n"+answer+"\n"), &strings.Builder{}); err != nil {
			t.Fatal(err)
		}
		if len(src.done) != want {
			t.Errorf("after %q %v", answer, src.done)
		}
	}
}
