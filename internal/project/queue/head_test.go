package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestTheTimeInAFileOrdersIt, whether ferrus or a person wrote it and whatever the time of the file: what has none comes last, and the name decides between equal ones.
func TestTheTimeInAFileOrdersIt(t *testing.T) {
	home := t.TempDir()
	long := time.Unix(0, 0)
	for name, content := range map[string]string{
		"z":       "added: 2026-01-02T03:04:05Z\n\nEarly.",
		"y":       "added: 2026-01-02T05:04:05+01:00\r\n\r\nAn hour later, in another zone, by another editor.",
		"x":       "added: 2026-01-02T04:04:05.000001Z\nThe next one.",
		"same-b":  "added: 2026-01-03T00:00:00Z\n\nOf one instant.",
		"same-a":  "added: 2026-01-03T00:00:00Z\n\nOf one instant.",
		"by-hand": "No head.",
		"a-title": "added: three pages to the manual",
	} {
		path := filepath.Join(home, "queue", name+".md")
		lay(t, path, content)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		long = long.Add(time.Hour)
	}
	list, err := List(home)
	want := []string{"z", "y", "x", "same-a", "same-b", "a-title", "by-hand"}
	if !slices.Equal(names(list), want) || err != nil {
		t.Fatalf("%q, %v", names(list), err)
	}
	for _, it := range list {
		if head := strings.HasPrefix(it.Text, "added:"); head != (it.Name == "a-title") || strings.HasPrefix(it.Text, "\n") {
			t.Errorf("the text of %s is %q", it.Name, it.Text)
		}
	}
	// Another text has the same place, and so has no time if it had none.
	for _, it := range list {
		if err := Replace(it, "Other."); err != nil {
			t.Fatal(err)
		}
	}
	again, err := List(home)
	if !slices.Equal(names(again), want) || err != nil {
		t.Fatalf("replaced: %q, %v", names(again), err)
	}
	for i, it := range again {
		if it.Text != "Other." || !it.Added.Equal(list[i].Added) {
			t.Errorf("%s is %q of %v, and was of %v", it.Name, it.Text, it.Added, list[i].Added)
		}
	}
}

// TestATimeThatCannotBeReadIsNamed, and is not given to an agent as a text.
func TestATimeThatCannotBeReadIsNamed(t *testing.T) {
	home := t.TempDir()
	put(t, home, "good", "Do it.")
	for _, value := range []string{"2026-13-01T00:00:00Z", "2026-01-31", "2026-01-31 14:05"} {
		lay(t, filepath.Join(home, "queue", "bad.md"), "added: "+value+"\n\nDo it.")
		list, err := List(home)
		if !slices.Equal(names(list), []string{"good"}) || err == nil || !strings.Contains(err.Error(), "bad.md") || !strings.Contains(err.Error(), value) ||
			!strings.Contains(err.Error(), "write it as added: ") {
			t.Errorf("%s: %q, %v", value, names(list), err)
		}
		said := (*refusal.RefusedError)(nil)
		if _, err := Put(home, "copy", "added: "+value+"\n\nDo it."); !errors.As(err, &said) || said.Code != refusal.InvalidInput {
			t.Errorf("%s is handed in: %v", value, err)
		}
	}
}

// TestAHeadIsNoPartOfATask, also of one that is handed in: a copy of a file of the queue is added now.
func TestAHeadIsNoPartOfATask(t *testing.T) {
	home := t.TempDir()
	first := put(t, home, "first", "Do it.")
	content, err := os.ReadFile(first.Path)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Put(home, "copied", string(content))
	if err != nil || copied.Text != "Do it." || !copied.Added.After(first.Added) {
		t.Errorf("%+v, %v", copied, err)
	}
	lay(t, filepath.Join(home, "queue", "hand.md"), "By hand.")
	hand, err := Find(home, "hand")
	if err == nil {
		err = Replace(hand, string(content))
	}
	list, wrong := List(home)
	if want := []string{"first", "copied", "hand"}; err != nil || wrong != nil || !slices.Equal(names(list), want) || list[2].Text != "Do it." {
		t.Errorf("%+v, %v, %v", list, err, wrong)
	}
}

// TestATaskMayHaveAllTheRoomBesideItsHead.
func TestATaskMayHaveAllTheRoomBesideItsHead(t *testing.T) {
	home, text := t.TempDir(), strings.Repeat("x", store.MaxDoc)
	put(t, home, "full", text)
	list, err := List(home)
	if err != nil || len(list) != 1 || list[0].Text != text {
		t.Errorf("%d wait, %v", len(list), err)
	}
	if err := takes(list[0]); err != nil {
		t.Fatal(err)
	}
	if list, err := List(home); err != nil || len(list) != 0 {
		t.Errorf("%d wait still, %v", len(list), err)
	}
}

// TestAHeadSaysWhatATaskNeeds: by its lines, in any order, also of a file that a person wrote. A text that only begins with such a word has no head.
func TestAHeadSaysWhatATaskNeeds(t *testing.T) {
	const id = "t-20260102-030405-0123abcd"
	for content, want := range map[string]string{
		"needs: a\n\nDo it.": "a|0|Do it.",
		"needs: a,b , c=" + id + "\nneeds: d=" + id + "+" + id + "\n\nDo it.": "a, b, c=" + id + ", d=" + id + "+" + id + "|0|Do it.",
		"priority: 9\r\nneeds: a\r\n\r\nDo it.":                               "a|9|Do it.",
		"added: 2026-01-02T03:04:05Z\npriority: 1\nDo it.":                    "|1|Do it.",
		"priority: 2\n\nneeds: a\n":                                           "|2|needs: a\n",
		"needs: more tests\n":                                                 "|0|needs: more tests\n",
		"needs:\n- a\n":                                                       "|0|needs:\n- a\n",
		"priority: high":                                                      "|0|priority: high",
		"Do it.\nneeds: a":                                                    "|0|Do it.\nneeds: a",
		"priority: 0\n\nDo it.":                                               "0\" is no priority",
		"priority: 10\n\nDo it.":                                              "10\" is no priority",
		"needs: a, ../b\n\nDo it.":                                            "../b\", which is no name of a task",
		"needs: a=b\n\nDo it.":                                                "a=b\", which is no name of a task",
		"conflict: 0123456789abcdef a code.txt (both)\n\nDo it.":              "a:code.txt (both)|0|Do it.",
		"issue: https://github.com/me/p/issues/42\n\nneeds: a":                "42|0|needs: a",
		"issue: about the colour":                                             "|0|issue: about the colour",
		"issue: https://github.com/me/p/issues/new\n\nDo it.":                 "no URL of an issue",
		"conflict: of two ideas, in the text":                                 "|0|conflict: of two ideas, in the text",
		"conflict: 0123456789abcdef ../a code.txt\n\nDo it.":                  "names no branch",
	} {
		text, h, err := Split(content)
		got := fmt.Sprintf("%s|%d|%s", h.needs(), h.Priority, text)
		if c := h.Conflict; c.Work != "" {
			got = c.Branch + ":" + c.Paths + got
		}
		got = strings.TrimPrefix(h.Issue, "https://github.com/me/p/issues/") + got
		if err != nil {
			if got = err.Error(); strings.Contains(got, want) {
				got = want
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", content, got, want)
		}
	}
}

// TestAnIssueIsOneTask of its name, of which nothing is a head or a pipeline, and only its adding says which issue it is: no text that is handed in.
func TestAnIssueIsOneTask(t *testing.T) {
	home, url := t.TempDir(), "https://github.com/me/p/issues/42"
	for _, title := range []string{"needs: x", "priority: 1", "pipeline: review", "issue: https://github.com/me/p/issues/7"} {
		it, err := PutIssue(home, "issue-42", title+"\n\nDo it.", url)
		found, wrong := Find(home, "issue-42")
		if err != nil || wrong != nil || it.Name != found.Name || found.Issue != url || found.Priority != 0 || found.Needs != nil || !strings.HasPrefix(found.Text, title) {
			t.Errorf("%s: %+v, %v, %v", title, found, err, wrong)
		}
		if name, _, ok := found.Pipeline(); ok {
			t.Errorf("it is the pipeline %s", name)
		}
		if again, err := PutIssue(home, "issue-42", "Other.", url); again.Name != "" || err != nil {
			t.Errorf("it is added again: %+v, %v", again, err)
		}
		if err := Replace(found, "issue: https://github.com/me/p/issues/7\n\nOther."); err != nil {
			t.Fatal(err)
		}
		if found, err = Find(home, "issue-42"); err != nil || found.Issue != url || found.Text != "Other." {
			t.Errorf("replaced: %+v, %v", found, err)
		}
		if err := Remove(found); err != nil {
			t.Fatal(err)
		}
	}
	it, err := Put(home, "issue-42", "issue: "+url+"\n\nDo it.")
	if it.Issue != "" || it.Text != "Do it." || err != nil {
		t.Errorf("a text says that it is an issue: %+v, %v", it, err)
	}
	if err := takes(it); err != nil {
		t.Fatal(err)
	}
	if again, err := PutIssue(home, "issue-42", "Do it.", url); again.Name != "" || err != nil {
		t.Errorf("a name that was taken is taken again: %+v, %v", again, err)
	}
	if _, err := PutIssue(home, "issue-43", "Do it.", "https://github.com/me/p/pull/43"); err == nil {
		t.Error("a pull request is an issue")
	}
}

// TestThePriorityComesBeforeTheTime, and a task without one is of the fifth.
func TestThePriorityComesBeforeTheTime(t *testing.T) {
	home := t.TempDir()
	for name, priority := range map[string]string{"e": "", "d": "priority: 5\n\n", "a": "priority: 9\n\n", "z": "priority: 1\n\n"} {
		lay(t, filepath.Join(home, "queue", name+".md"), priority+"Do it.")
	}
	list, err := List(home)
	if want := []string{"z", "d", "e", "a"}; err != nil || !slices.Equal(names(list), want) {
		t.Errorf("%q, %v", names(list), err)
	}
}

func FuzzHead(f *testing.F) {
	f.Add("added: 2026-01-02T03:04:05Z\n\nDo it.", int64(0), 3, "a")
	f.Add("added: 2026-01-02T03:04:05Z", int64(1_700_000_000_123_456), 0, "a=t-1+t-2, b")
	f.Add("added: soon\n", int64(-1), 9, "")
	f.Add("issue: two", int64(1), 9, "https://github.com/me/p/issues/42")
	f.Add("conflict: two", int64(1), 9, "0123456789abcdef a code.txt (both changed it)")
	f.Fuzz(func(t *testing.T, text string, micros int64, priority int, needs string) {
		at := time.UnixMicro(micros).UTC()
		if year := at.Year(); year < 1 || year > 9999 || at.IsZero() || priority < 0 || priority > 9 {
			return
		}
		h := Head{Added: at, Priority: priority}
		if _, is, err := Split("issue: " + needs); err == nil {
			h.Issue = is.Issue
		}
		if _, is, err := Split("needs: " + needs); err == nil {
			h.Needs = is.Needs
		}
		if _, is, err := Split("conflict: " + needs); err == nil {
			h.Conflict = is.Conflict
		}
		got, is, err := Split(h.With(text))
		if err != nil || got != text || !is.Added.Equal(at) || is.Priority != priority || is.needs() != h.needs() || is.Issue != h.Issue || is.Conflict != h.Conflict {
			t.Errorf("%q of %v, %v", got, is, err)
		}
	})
}
