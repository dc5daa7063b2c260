package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/test/golden"
)

// judged is what a fake has to decide on.
type judged struct {
	review  *Review
	all     *review.Comparison
	between *review.Patch
	since   string // of the newest read
}

func (f *fake) Review(_ context.Context, _ Key, since string) (*Review, error) {
	if f.judged.since = since; f.judged.review == nil {
		return nil, errors.New("there is nothing to review")
	}
	r := *f.judged.review
	v := *r.Review
	v.Files = slices.Clone(v.Files)
	task := *r.Task
	task.Acts = slices.Clone(task.Acts)
	v.Draft.Offer(task.Acts)
	return &Review{&v, &task}, f.err
}
func (f *fake) Compare(context.Context, Key) (*review.Comparison, error) { return f.judged.all, f.err }
func (f *fake) Between(context.Context, *review.Comparison, string, string) (*review.Patch, error) {
	return f.judged.between, f.err
}
func (f *fake) Comment(_ context.Context, of review.Subject, c review.Comment) error {
	d := &f.judged.review.Draft
	if f.err == nil && of == f.judged.review.Subject {
		d.Comments = slices.DeleteFunc(slices.Clone(d.Comments), func(old review.Comment) bool { return old.Path == c.Path && old.Line == c.Line })
		if d.Subject = of; c.Text != "" {
			d.Comments = append(d.Comments, c)
		}
	}
	return f.err
}
func (f *fake) Viewed(_ context.Context, of review.Subject, path, _ string, viewed bool) error {
	for i := range f.judged.review.Files {
		if one := &f.judged.review.Files[i]; f.err == nil && one.Path == path && one.Viewed != viewed {
			one.Viewed = viewed
			f.judged.review.Marked += map[bool]int{true: 1, false: -1}[viewed]
		}
	}
	return f.err
}

const totalPatch = `diff --git a/receipt.go b/receipt.go
--- a/receipt.go
+++ b/receipt.go
@@ -8,6 +8,8 @@ func Receipt(lines []Line) string {
 	var b strings.Builder
 	for _, l := range lines {
+		// a name of more than 20 letters is cut
+		fmt.Fprintf(&b, "%3d x %-20s %8s` + "\u202e" + `\n", l.Count, l.Name, euro(l.Cents))
 	}
 	return b.String()
 }
 
diff --git a/total.go b/total.go
--- a/total.go
+++ b/total.go
@@ -1,10 +1,10 @@ package shop
 package shop
 
 // Total is the sum of a cart.
 func Total(lines []Line) int {
 	sum := 0
 	for _, l := range lines {
-		sum += l.Cents * l.Count
+		sum += l.Cents * max(l.Count, 0)
 	}
 	return sum
 }
diff --git a/receipt_test.go b/receipt_test.go
new file mode 100644
--- /dev/null
+++ b/receipt_test.go
@@ -0,0 +1,3 @@
+package shop
+
+func TestReceipt(t *testing.T) {}
diff --git a/testdata/receipt.golden b/testdata/receipt.golden
--- a/testdata/receipt.golden
+++ b/testdata/receipt.golden
@@ -1,2 +1,3 @@
 3 x bread
+1 x butter
 total
`

// judging is a night in which parser waits for a review and several attempts at speed for a choice.
func judging(t testing.TB) *fake {
	t.Helper()
	src := night(t)
	about := review.Subject{Branch: "parser", Task: "t-20261123-121500-11aa", Submission: "s2"}
	task := src.details[Key{Task, "parser"}].Task
	task.Submission.Text = "Prints the lines of a cart in columns and the total below. Prices are written by euro.\n\nChecked: an empty cart by hand."
	task.Reviews = status.Budget{Used: 1, Max: 3}
	task.Spent = records.Spend{Runs: 1, Usage: agents.Usage{Dollars: 0.31}}
	task.Notices = []string{"unseen: .env.local, a file that git ignores, differs (212 bytes)", "node: of no interest here"}
	if err := json.Unmarshal([]byte(`{"check": {"id": "k2", "status": "passed", "commands": ["sh lint.sh", "go test ./..."]}}`), task.Report); err != nil {
		t.Fatal(err)
	}
	for i, act := range task.Acts {
		task.Acts[i].Args, task.Acts[i].Fields = slices.Clone(act.Args), slices.Clone(act.Fields) // a test may spoil them
		task.Acts[i].Report, task.Acts[i].On.Task, task.Acts[i].On.Submission = task.Report, task.TaskID, "s2"
	}
	v := review.Look(&review.Patch{Files: patch.Parse(totalPatch), Hidden: "hidden: receipt.go has U+202E"})
	v.Subject, v.Reviewing, v.Took, v.Marked = about, true, 3*time.Second, 1
	v.Files[2].Viewed, v.Files[3].Folded = true, true
	v.Rounds = []status.Round{{ID: "s1", By: "executor:claude-code:1", Tree: "aaaa", Verdict: state.Reject, VerdictBy: "supervisor:codex:1", Text: "total.go:7: a negative count makes it cheaper than nothing."}}
	v.Files[1].Said = []review.Remark{{Remark: patch.Remark{Path: "total.go", Line: 7, Text: "a negative count makes it cheaper than nothing."}, Round: &v.Rounds[0], Then: 7, Changed: true},
		{Remark: patch.Remark{Path: "total.go", Line: 90, Text: "nothing is tested here"}, Round: &v.Rounds[0], Then: 90}}
	src.judged.review = &Review{v, task}

	src.overview.Needs = append(src.overview.Needs, status.Need{ID: "choice", Kind: status.NeedChoice, Branch: "speed", Text: "3 attempts are approved: fast.1, fast.2, fast.3.", Since: ago(180)})
	c := &review.Comparison{Title: "Make Find faster", Scored: true}
	for i, score := range []float64{412, 655, 398} {
		name := fmt.Sprintf("fast.%d", i+1)
		a := review.Attempt{Attempt: branch.Attempt{Branch: name, Agent: []string{"claude-code", "codex", "qwen-code"}[i], State: state.Complete, Score: &score, Green: true, Check: "k1 green",
			Took: time.Duration(4+i) * time.Minute, Size: worktree.Size{Files: 1, Added: 7 + i}}, Best: i == 1, Used: i, Max: 4, Spent: records.Spend{Runs: 1, Usage: agents.Usage{Dollars: 0.31}},
			Said: "A map by lower-case names; measured with bench.sh, three times.", Remark: "also finds BREAD", Verdict: &status.Round{ID: "s1", By: "executor:codex:1", Verdict: state.Approve, VerdictBy: "supervisor:claude-code:1"},
			Select: &Act{Name: "select", Label: "Select", Args: []string{"select", name, "--submission", "s1"}, Loses: "The other attempts at the same task are removed."},
			Patch:  &review.Patch{Files: patch.Parse(totalPatch)}}
		c.Attempts = append(c.Attempts, a)
		src.details[Key{Task, name}] = &Detail{Task: &status.Detail{Report: &status.Report{Branch: name, TaskID: "t-2", State: state.Complete}, Acts: []Act{*a.Select}}}
	}
	src.judged.all, src.judged.between = c, &review.Patch{Files: patch.Parse(totalPatch[:strings.Index(totalPatch, "diff --git a/total")])}
	return src
}

// pages are the views of the pages, and the keys that lead there.
var pages = []struct {
	name string
	keys []string
	text string
}{
	{"review", []string{"enter", "}"}, ""},
	{"review-comment", []string{"enter", "j", "j", "j", "j", "c"}, "A name of more than 20 letters\npushes the price out."},
	{"review-files", []string{"enter", "f"}, ""},
	{"compare", []string{"enter"}, ""},
}

func onPageOf(t testing.TB, at, width, height int) *stage {
	s := onStage(t, judging(t), width, height)
	s.goTo(map[bool]string{true: "speed", false: "parser"}[pages[at].name == "compare"])
	s.press(pages[at].keys...)
	s.write(pages[at].text)
	return s
}

// goTo goes to a branch that needs the person.
func (s *stage) goTo(branch string) {
	for s.key().Name != branch {
		s.press("n")
	}
}

// TestPages compares each with its golden file and its picture, in seven bits as well: each line is as wide as the window.
func TestPages(t *testing.T) {
	for i, p := range pages {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
			s := onPageOf(t, i, size[0], size[1])
			e := drawn(s.View().Content, size[0], size[1])
			name := fmt.Sprintf("%s-%dx%d", p.name, size[0], size[1])
			golden.Check(t, filepath.Join("testdata", name+".txt"), textOf(e))
			if size[0] < 200 {
				golden.Check(t, filepath.Join("..", "..", "..", "docs", "pictures", "ui-"+name+".svg"), svg(e, "ferrus ui: "+p.name))
			}
			e.Close()
		}
		for _, size := range [][2]int{{60, 15}, {71, 20}, {99, 24}, {100, 24}, {300, 100}} {
			for _, key := range []string{"", "G", "f", "d", "s"} {
				s := onPageOf(t, i, size[0], size[1])
				s.ascii = true
				if s.dialog == nil && key != "" {
					s.press(key)
				}
				rows := strings.Split(s.View().Content, "\n")
				if len(rows) != size[1] {
					t.Errorf("%s has %d lines in %v after %q", p.name, len(rows), size, key)
				}
				for n, r := range rows {
					if text := ansi.Strip(r); ansi.StringWidth(text) != size[0] || strings.ContainsFunc(text, func(r rune) bool { return r > 126 }) {
						t.Errorf("line %d of %s in %v after %q: %q", n, p.name, size, key, text)
					}
				}
			}
		}
	}
}

// TestAReviewIsReadAndDecided: a comment on a line is kept and becomes the rejection, also beside what was typed before, and a file is marked as viewed.
func TestAReviewIsReadAndDecided(t *testing.T) {
	src := judging(t)
	s := onStage(t, src, 80, 24)
	s.goTo("parser")
	s.press("enter")
	s.shows("your review · round 2 · parser → adder", "4 files +7 -1", "2 checks passed in 3 s", "$0.31", "! hidden characters: receipt.go:11", "git does not show", "1/4  receipt.go", "y approve  r reject  c comment")
	s.press("c")
	s.shows("go to a line of the patch")
	s.press("r")
	s.write("In general it is well.")
	s.press("esc", "j", "j", "j", "j", "c")
	s.shows("Comment on receipt.go:10")
	s.write("Why 20?")
	s.press("ctrl+s")
	s.shows("you: Why 20?", "1 comment of yours is kept")
	s.press("j", "j", "c")
	s.write("Half of a")
	s.press("esc", "c") // what was typed stays
	s.write(" thought")
	s.press("ctrl+s")
	s.shows("you: Half of a thought", "2 comments of yours are kept")
	s.press("c", "ctrl+u", "ctrl+s")
	s.shows("1 comment of yours is kept")

	s.press("}", "v")
	if f := src.judged.review.Files; !f[1].Viewed || f[0].Viewed {
		t.Error("another file was marked")
	}
	s.press("{")
	s.shows("viewed ✓, folded: 11 lines")
	s.press("enter")
	s.shows("Codex, the reviewer, submission 1: a negative count", "changed since", "line 90: nothing is tested")
	s.press("v")
	if src.judged.review.Files[1].Viewed {
		t.Error("the mark stays")
	}

	s.press("r")
	s.shows("In general it is well.", "receipt.go:10", "Why 20?")
	s.press("ctrl+s")
	if len(src.values) != 1 || !strings.Contains(src.values[0]["message"], "In general it is well.\n\nreceipt.go:10\n> \t\t// a name") || !strings.Contains(src.values[0]["message"], "Why 20?") {
		t.Errorf("%v %q", src.carriedOut(), src.values)
	}
	if s.page != nil {
		t.Error("what was decided is still open")
	}
	s.shows("Reject: done")
}

// TestARejectionBeginsWithTheComments, and an approval is bound to what was shown.
func TestARejectionBeginsWithTheComments(t *testing.T) {
	src := judging(t)
	src.judged.review.Draft = review.Draft{Subject: src.judged.review.Subject, Comments: []review.Comment{{Path: "total.go", Line: "o7", Quote: "sum", Text: "Why?"}}}
	s := onStage(t, src, 120, 40)
	s.goTo("parser")
	s.press("enter", "r")
	s.shows("total.go:7 (removed)", "> sum", "Why?")
	s.press("esc", "esc")
	if s.page != nil {
		t.Fatal("esc does not leave the review")
	}
	s.press("enter")
	next := *src.judged.review
	v := *next.Review
	v.Subject.Submission = "s3"
	src.judged.review = &Review{&v, next.Task}
	s.send(changedMsg{err: errors.New("once")})
	s.press("ctrl+r")
	s.shows("submission 3 is there; ctrl+r shows it")
	if p := s.page.(*reviewPage); p.review.Subject.Submission != "s2" {
		t.Error("a review changes under its reader")
	}
	s.press("ctrl+r")
	if p := s.page.(*reviewPage); p.review.Subject.Submission != "s3" || p.newer != nil {
		t.Error("the next submission is not shown")
	}
	s.press("d")
	if src.judged.since != "s1" {
		t.Errorf("since %q", src.judged.since)
	}
	s.press("d", "s")
	s.shows("What was done and said", "Submission 1: rejected by Codex", "Checked: an empty cart")
	src.err = errors.New("the disk is full")
	s.press("esc", "v")
	s.shows("Viewed: refused", "the disk is full")
}

// TestNoActBlocksAReview: a line is commented while an act is carried out.
func TestNoActBlocksAReview(t *testing.T) {
	src := judging(t)
	src.judged.review.Task.Acts = append(src.judged.review.Task.Acts, Act{Name: "send", Label: "Message", Args: []string{"send", "--branch", "parser"}})
	src.details[Key{Task, "parser"}].Task.Acts = src.judged.review.Task.Acts
	s := onStage(t, src, 120, 40)
	s.goTo("parser")
	s.press("enter", "j", "j", "j")
	end := s.during("m", "j", "c")
	s.write("Why?")
	s.press("ctrl+s")
	s.shows("you: Why?", "Message …")
	end()
	s.shows("Message: done", "you: Why?")
}

// TestAnAttemptIsChosen: the best one is chosen at first, a key shows its review and another one what differs, and taking it asks first.
func TestAnAttemptIsChosen(t *testing.T) {
	src := judging(t)
	s := onStage(t, src, 80, 24)
	for s.key().Name != "speed" {
		s.press("n")
	}
	s.press("enter")
	s.shows("⑂ choose one of 3 · 3 h", "> 2 fast.2", "655  best", "▰▰▰▰▰▰▰▰▰▰", "▰▰▰▰▰▰▱▱▱▱", "1 of 4 tries", "fast.2, in its own words", "“also finds BREAD”", "Taking fast.2 merges it into adder")
	s.press("d")
	s.shows("What differs from fast.1 to fast.2")
	s.press("d")
	s.shows("What differs from fast.3 to fast.2")
	s.press("d")
	s.shows("fast.2, in its own words")
	s.press("l")
	s.shows("> 3 fast.3")
	s.press("l", "enter")
	if p, ok := s.page.(*reviewPage); !ok || p.of.Name != "fast.1" {
		t.Fatalf("%+v", s.page)
	}
	s.press("esc")
	s.shows("> 1 fast.1")
	s.press("2", "S")
	s.shows("Are you sure?", "The other attempts at the same task are removed.")
	s.press("y")
	if got := src.done; len(got) != 1 || got[0].Name != "select" || got[0].Args[1] != "fast.2" || s.page != nil {
		t.Errorf("%v", got)
	}
	src.judged.all.Attempts[0].Select = nil
	s.press("enter", "1", "S")
	s.shows("fast.1 cannot be taken now")
	src.err = errors.New("it was removed")
	s.press("ctrl+r")
	s.shows("it was removed")
}

// TestHostileTextsOfAReviewStayText: paths, lines, comments, remarks and what attempts say.
func TestHostileTextsOfAReviewStayText(t *testing.T) {
	src := judging(t)
	src.judged.review.Draft.Comments = []review.Comment{{Path: "total.go", Line: "n1", Text: "Why?"}}
	src.judged.review.Stale = []review.Draft{{Subject: review.Subject{Submission: "s1"}, Comments: []review.Comment{{Path: "a", Line: "n1", Text: "b"}}}}
	for _, v := range []any{src.judged.review, src.judged.all, src.judged.between} {
		poison(reflect.ValueOf(v))
	}
	for i := range src.judged.review.Files { // as the parser leaves them, and comments are found by them
		f := &src.judged.review.Files[i]
		f.Path = line(f.Path)
		for j := range f.Said {
			f.Said[j].Line = 7
		}
	}
	src.judged.review.Draft.Comments[0] = review.Comment{Path: src.judged.review.Files[1].Path, Line: "n1", Quote: hostile, Text: hostile}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		for _, keys := range [][]string{{"parser", ""}, {"parser", "}"}, {"parser", "f"}, {"parser", "s"}, {"parser", "?"}, {"parser", "} j j c"}, {"parser", "r"}, {"speed", ""}, {"speed", "d"}, {"speed", "S"}} {
			s := onStage(t, src, size[0], size[1])
			for s.key().Name != keys[0] {
				s.press("n")
			}
			s.press("enter")
			s.press(strings.Fields(keys[1])...)
			content := s.View().Content
			if !strings.Contains(content, "U+001B") && keys[1] != "?" {
				t.Errorf("%v shows nothing hostile:\n%s", keys, ansi.Strip(content))
			}
			if strings.Contains(content, "\x1b[45m") {
				t.Errorf("%v takes its colours from others", keys)
			}
			checkClean(t, fmt.Sprint(keys), stripStyles(content))
		}
	}
	var out strings.Builder
	if err := Plain(t.Context(), src, "x", strings.NewReader("3\nreview\ncompare\ncomment a:1 b\nviewed "+hostile+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "U+001B") < 20 {
		t.Error("plain shows too little of it:\n" + out.String())
	}
	checkClean(t, "plain", out.String())
}

// TestPlainReviews line by line: the same facts, comments that become the rejection, and the attempts one after the other.
func TestPlainReviews(t *testing.T) {
	src := judging(t)
	var out strings.Builder
	number := slices.IndexFunc(itemsOf(src.overview, today), func(it item) bool { return it.key.Name == "parser" }) + 1
	in := fmt.Sprintf("review\n%d\nreview\ncomment total.go:7 Why \"max\"?\ncomment total.go:99 No\ncomment x\nviewed total.go\nviewed none\nreview\ncompare\n", number)
	if err := Plain(t.Context(), src, "x", strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no task is chosen", "waiting for your review · round 2 of 3", "! hidden characters: receipt.go:11", "Checked: an empty cart by hand.", "      7 + ", "Codex, the reviewer, submission 1: a negative",
		"kept until you decide", "total.go:99 is no line", "comment takes PATH:LINE", "viewed: true", "none is no file", "you: Why \"max\"?", "2. fast.2\n  agent: Codex\n  score: 655  best\n  checks: passed", "also finds BREAD"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if d := src.judged.review.Draft; len(d.Comments) != 1 || d.Comments[0].Line != "n7" || strings.TrimSpace(d.Comments[0].Quote) != "sum += l.Cents * max(l.Count, 0)" {
		t.Errorf("%+v", d)
	}
}

// TestEnterOpensTheReviewThatIsShown, also while the overview is older than the item and does not have it yet.
func TestEnterOpensTheReviewThatIsShown(t *testing.T) {
	s := onStage(t, judging(t), 80, 24)
	s.goTo("parser")
	old := *s.overview
	old.Needs = nil
	s.overview = &old
	s.press("enter")
	if _, ok := s.page.(*reviewPage); !ok {
		t.Errorf("it opens %T", s.page)
	}
}

// TestTheDocsNameEveryKeyOfAPage.
func TestTheDocsNameEveryKeyOfAPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/ui.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pageKeys {
		for _, h := range p.keys {
			if row := "| `" + strings.Join(strings.Fields(h.key), "` `") + "` | " + h.does + " |\n"; !strings.Contains(string(text), row) {
				t.Errorf("docs/ui.md lacks %s", row)
			}
		}
	}
}

// TestTheWheelMovesAPage, and a click begins nothing.
func TestTheWheelMovesAPage(t *testing.T) {
	s := onPageOf(t, 0, 120, 40)
	at := s.page.(*reviewPage).at
	s.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	s.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 5, Y: 5})
	if p := s.page.(*reviewPage); p.at != at+1 {
		t.Errorf("from %d to %d", at, p.at)
	}
}
