package review_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }

// TestAReview has the patch of a submission, what was said of the one before, the person's comments, and what has changed since.
func TestAReview(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true"))
	ex := m.Executor("codex")
	enginetest.Must(m.Human().CreateTask(t.Context(), "Paint it.", ""))(t)
	r := review.NewReader(filepath.Join(m.Dir, project.DirName))
	read := func(since, whole string) (*review.Review, *status.Detail) {
		t.Helper()
		e := m.Human().Engine()
		d := enginetest.Must(status.ReadDetail(t.Context(), e, 0))(t)
		v := enginetest.Must(r.Read(t.Context(), e, d, since, whole))(t)
		v.Draft.Offer(d.Acts)
		return v, d
	}
	submit := func(files map[string]string) {
		enginetest.Claim(t, ex)
		for name, text := range files {
			m.Write(name, text)
		}
		enginetest.Submitted(t, ex)
	}
	if v, _ := read("", ""); v.Subject != (review.Subject{}) || v.Reviewing || len(v.Files) != 0 || v.Took != 0 {
		t.Errorf("without work: %+v", v)
	}
	submit(map[string]string{"a.go": "package a\n\nvar a = 1\n", "b.go": "package a\n", "go.sum": "one\n"})
	enginetest.Must(m.Human().Reject(t.Context(), "a.go:3: One is not enough.\n", ""))(t)
	submit(map[string]string{"a.go": "package a\n\nvar a = 2 // \u202e\n"})

	v, _ := read("", "")
	about := v.Subject
	if about.Submission != "s2" || !v.Reviewing || len(v.Rounds) != 1 || v.Took <= 0 || !strings.Contains(v.Hidden, "a.go has U+202E") || len(v.Files) != 3 || v.Added != 5 {
		t.Fatalf("%+v", v)
	}
	if f := v.Files[2]; !f.Made || !f.Folded || v.Files[0].Folded || f.Lines() != 1 {
		t.Errorf("%+v", f)
	}
	if v, _ := read("", "2"); v.Files[2].Folded {
		t.Error("the file that is asked for is folded")
	}
	a := v.Files[0]
	if said := a.About("n3"); len(said) != 1 || !said[0].Changed || said[0].Round.ID != "s1" || len(a.Said) != 0 {
		t.Errorf("%+v", said)
	}
	if again, _ := read("", ""); again.Patch != v.Patch {
		t.Error("the same patch is read again")
	}
	drawn := 0
	for range 2 {
		v.Drawn(0, func(f *patch.File) any { drawn++; return f.Path })
	}
	if drawn != 1 {
		t.Errorf("a file is drawn %d times", drawn)
	}

	if err := r.Comment(about, review.Comment{Path: "a.go", Line: "n3", Quote: "var a", Text: "Why?"}); err != nil {
		t.Fatal(err)
	}
	if err := r.View(about, "b.go", v.Files[1].ID, true); err != nil {
		t.Fatal(err)
	}
	v, d := read("", "")
	if c := v.Draft.CommentOn("a.go", "n3"); c == nil || c.Text != "Why?" || v.Draft.CommentOn("b.go", "n3") != nil || v.Marked != 1 || !v.Files[1].Viewed {
		t.Errorf("%+v", v.Draft)
	}
	for _, act := range d.Acts {
		if of := review.SubjectOfAct(act); act.Name == "reject" && (of != about || act.Fields[0].Value != "a.go:3\n> var a\n\nWhy?\n") {
			t.Errorf("%+v %q", of, act.Fields[0].Value)
		}
	}
	if v, _ := read("s1", ""); v.Since == nil || len(v.Files) != 1 || v.Moved {
		t.Errorf("since s1: %+v", v)
	}
	if v, _ := read("s9", ""); v.Since != nil || len(v.Files) != 3 {
		t.Errorf("since none: %+v", v)
	}
}

// TestAComparison has the attempts of one group with the verdict on each, and what differs between two that were handed in.
func TestAComparison(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	names := []string{"fast.1", "fast.2", "fast.3", "aside"}
	enginetest.Branched(t, m.Human(), branch.Fork{Names: names, Own: true})
	for i, name := range names {
		on := m.On(name)
		enginetest.Must(on.Human().CreateTask(t.Context(), "Make Find faster", ""))(t)
		ex := on.Executor("codex")
		enginetest.Claim(t, ex)
		if i < 2 {
			on.Write("find.go", "package a\n\nvar way = "+name[5:]+"\n")
			enginetest.Submitted(t, ex)
		}
	}
	enginetest.Must(m.On("fast.2").Human().Approve(t.Context(), "finds more", ""))(t)
	opener := func(name string) (*engine.Engine, error) {
		return engine.Open(project.At(m.Dir, name), m.Opts)
	}
	c := enginetest.Must(review.NewReader(filepath.Join(m.Dir, project.DirName)).Compare(t.Context(), opener, names, "fast.2"))(t)
	if len(c.Attempts) != 3 || c.Title != "Make Find faster" || c.Scored {
		t.Fatalf("%+v", c)
	}
	one, two, three := c.Attempts[0], c.Attempts[1], c.Attempts[2]
	if one.Select == nil || one.Verdict != nil || one.Judged() != "passed" || one.Said == "" || len(one.Patch.Files) != 1 {
		t.Errorf("%+v", one)
	}
	if two.Verdict == nil || two.Verdict.Words() != "approved" || two.Remark != "finds more" || three.Select != nil || three.Judged() != "not run" {
		t.Errorf("%+v\n%+v", two, three)
	}
	p := enginetest.Must(c.Between(t.Context(), opener, "fast.1", "fast.2"))(t)
	if len(p.Files) != 1 || p.Files[0].Added != 1 || p.Files[0].Removed != 1 {
		t.Errorf("%+v", p.Files)
	}
	for _, pair := range [][2]string{{"fast.1", "fast.3"}, {"fast.1", "aside"}, {"HEAD", "fast.1"}} {
		if _, err := c.Between(t.Context(), opener, pair[0], pair[1]); err == nil {
			t.Errorf("%v are compared", pair)
		}
	}
}
