package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// TestAReviewOnTheScreen, by keys: a comment on a line, which is a file that the page reads, too; a file that was viewed; a rejection that begins with
// the comments; its undo, which brings them back; and an approval.
func TestAReviewOnTheScreen(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	enginetest.Must(m.Human().CreateTask(t.Context(), "Print a receipt", ""))(t)
	ex := m.Executor("claude-code")
	enginetest.Claim(t, ex)
	m.Write("receipt.go", "package shop\n\nfunc Receipt() {} // \x1b[41m \u202e\n")
	m.Write("total.go", "package shop\n")
	enginetest.Submitted(t, ex)
	home := filepath.Join(m.Dir, ".ferrus")
	about := review.Subject{Task: enginetest.View(t, m.Human()).Task.TaskID, Submission: "s1"}
	drafts := func() []review.Comment {
		d, err := review.Store{Home: home}.Read(about)
		if err != nil {
			t.Fatal(err)
		}
		return d.Comments
	}

	x := inTerminal(t, m.Dir, 80, 24, []string{"NO_COLOR=1"}, "ferrus", "ui")
	x.shows(t, "Print a receipt", "y approve")
	x.press(t, "\r")
	x.shows(t, "✓ your review", "2 files +4 -0", "1 check passed", "! hidden characters: receipt.go:3", "1/2  receipt.go  +3 -0", "+ func Receipt() {} // <U+001B>[41m <U+202E>")
	x.press(t, "jjjjjc")
	x.shows(t, "Comment on receipt.go:3")
	x.press(t, "Write it.\x13")
	x.shows(t, "you: Write it.", "1 comment of yours is kept")
	if list := drafts(); len(list) != 1 || list[0].Path != "receipt.go" || list[0].Line != "n3" || list[0].Text != "Write it." {
		t.Errorf("%+v", list)
	}
	x.press(t, "v")
	x.shows(t, "viewed ✓, folded: 3 lines", ">2/2  total.go")
	if marks, err := (review.Store{Home: home}).Viewed(about); err != nil || marks["receipt.go"] == "" || len(marks) != 1 {
		t.Errorf("%v, %v", marks, err)
	}

	x.press(t, "r")
	x.shows(t, "What is wrong", "receipt.go:3", "> func Receipt() {} //", "Write it.")
	x.press(t, "\x13")
	x.shows(t, "Reject: ", "z undoes it")
	now := enginetest.View(t, m.Human()).Task
	if list := drafts(); len(list) != 0 || now.State != state.Addressing {
		t.Fatalf("%s, %d comments are left", now.State, len(list))
	}
	x.press(t, "b")
	x.shows(t, "Which?")
	x.press(t, "1")
	x.shows(t, "Entry of the log")
	x.press(t, "\t", "one more look", "\r")
	x.shows(t, "Are you sure?")
	x.press(t, "y")
	x.shows(t, "y approve", "Roll back: ")
	if list := drafts(); len(list) != 1 {
		t.Fatalf("%d comments have come back", len(list))
	}
	x.press(t, "\r")
	x.shows(t, "your review", "1 comment of yours is kept", "viewed ✓")

	x.press(t, "y")
	x.shows(t, "Note (optional)", "hidden: ")
	x.press(t, "\r")
	x.until(t, "the approval", func(shown string) bool {
		return !strings.Contains(shown, "your review") && enginetest.View(t, m.Human()).Task.State == state.Complete
	})
	if found := coloursIn(x.written()); found != "" || strings.Contains(x.written(), "\x1b[41m") {
		t.Errorf("NO_COLOR is set, and there are colours: %q", found)
	}
	x.press(t, "q")
	if code := x.end(t); code != 0 || !x.cooked(t) {
		t.Errorf("it ends with %d", code)
	}
}

// TestAnAttemptIsChosenOnTheScreen, by keys: both are beside each other, what differs is shown, and the one that is taken is merged and the other removed.
func TestAnAttemptIsChosenOnTheScreen(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	names := []string{"fast.1", "fast.2"}
	enginetest.Branched(t, m.Human(), branch.Fork{Names: names, Own: true})
	for _, name := range names {
		on := m.On(name)
		enginetest.Must(on.Human().CreateTask(t.Context(), "Make Find faster", ""))(t)
		ex := on.Executor("codex")
		enginetest.Claim(t, ex)
		on.Write("find.go", "package a\n\nvar way = "+name[5:]+"\n")
		enginetest.Submitted(t, ex)
		enginetest.Must(on.Human().Approve(t.Context(), "finds "+name, ""))(t)
	}
	x := inTerminal(t, m.Dir, 80, 24, []string{"LANG=C", "LC_ALL="}, "ferrus", "ui")
	x.shows(t, "Make Find faster", "Y ")
	x.press(t, "n\r")
	x.shows(t, "Y choose one of 2", "> 1 fast.1", "2 fast.2", "checks     passed", "review     approved", "1 file +3 -0", "fast.1, in its own words", "\"finds fast.1\"", "+ var way = 1")
	x.press(t, "l")
	x.shows(t, "> 2 fast.2", "+ var way = 2")
	x.press(t, "d")
	x.shows(t, "What differs from fast.1 to fast.2", "- var way = 1", "+ var way = 2")
	x.press(t, "\r")
	x.shows(t, "1/1  find.go", "fast.2 > ")
	x.press(t, "\x1b")
	x.shows(t, "> 2 fast.2")
	x.press(t, "S")
	x.shows(t, "Note (optional)")
	x.press(t, "\r")
	x.shows(t, "Are you sure?", "are removed")
	x.press(t, "y")
	x.until(t, "the merge", func(shown string) bool {
		text, _ := os.ReadFile(filepath.Join(m.Dir, "find.go"))
		return strings.Contains(string(text), "var way = 2") && !strings.Contains(shown, "choose one of")
	})
	x.press(t, "q")
	x.end(t)
}
