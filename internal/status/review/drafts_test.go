package review

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var about = Subject{"fix", "t-20260102-030405", "s2"}

func TestCommentsBecomeTheRejection(t *testing.T) {
	s := Store{t.TempDir()}
	for _, c := range []Comment{
		{"a.go", "n12", "x := 1", "Why \x1b[31mone\u202e?\r\nOr two?"},
		{"a.go", "o3", "y", "first"},
		{"a.go", "n9", "z", "  "},
		{"a.go", "o3", "y", "Keep this."},
		{"b.go", "n1", "", "gone soon"},
		{"b.go", "n1", "", ""},
	} {
		if err := s.Comment(about, c); err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.Read(about)
	if err != nil {
		t.Fatal(err)
	}
	want := "a.go:12\n> x := 1\n\nWhy <U+001B>[31mone<U+202E>?\nOr two?\n\na.go:3 (removed)\n> y\n\nKeep this.\n"
	if diff := cmp.Diff(want, d.Text()); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(filepath.Join(s.Home, "drafts", "fix@t-20260102-030405@s2.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := s.Remove(about); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(about); err != nil {
		t.Error(err)
	}
	if d, err := s.Read(about); err != nil || len(d.Comments) != 0 || d.Text() != "" {
		t.Errorf("%v %v", d, err)
	}
}

// TestADraftOfAnotherSubmissionIsStale, and one of another task or branch is none of ours.
func TestADraftOfAnotherSubmissionIsStale(t *testing.T) {
	s := Store{t.TempDir()}
	if list, err := s.Stale(about); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
	for _, other := range []Subject{about, {"fix", about.Task, "s1"}, {"", about.Task, "s1"}, {"fix", "t-20260102-030406", "s1"}} {
		if err := s.Comment(other, Comment{"a", "n1", "q", other.Branch + other.Submission}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Stale(about)
	if err != nil || len(list) != 1 || list[0].Comments[0].Text != "fixs1" {
		t.Errorf("%v %v", list, err)
	}
}

func TestWhatIsNoCommentIsRefused(t *testing.T) {
	s := Store{t.TempDir()}
	good := Comment{"a", "n1", "q", "text"}
	for _, bad := range []Subject{{}, {"", "t", ""}, {"", "../t", "s1"}, {"../x", "t", "s1"}, {"", "t", "a/b"}, {"a@b", "t", "s1"}} {
		if err := s.Comment(bad, good); err == nil {
			t.Errorf("%v", bad)
		}
	}
	for _, bad := range []Comment{{"", "n1", "", "x"}, {"a", "", "", "x"}, {"a", "n", "", "x"}, {"a", "n0", "", "x"}, {"a", "x1", "", "x"}, {"a", "n1x", "", "x"},
		{"a", "n-1", "", "x"}, {"a", "nn1", "", "x"}, {"a", "n1", "", strings.Repeat("x", maxText+1)}, {strings.Repeat("a", 5000), "n1", "", "x"}} {
		if err := s.Comment(about, bad); err == nil {
			t.Errorf("%.40v", bad)
		}
	}
	if entries, err := os.ReadDir(s.Home); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestALargeDraftIsReadAgain: a comment with which it could not be is refused, and the others stay.
func TestALargeDraftIsReadAgain(t *testing.T) {
	s := Store{t.TempDir()}
	d := Draft{Subject: about}
	for n := range maxComments / 2 {
		d.Comments = append(d.Comments, Comment{"a", fmt.Sprint("n", n+1), "q", strings.Repeat("x", maxText)})
	}
	if unlock, err := s.lock(about); err != nil {
		t.Fatal(err)
	} else {
		unlock()
	}
	if err := s.write(d); err != nil {
		t.Fatal(err)
	}
	full := d
	for n := range maxComments / 2 {
		full.Comments = append(full.Comments, Comment{"a", fmt.Sprint("n", n+1000), "q", strings.Repeat("<", maxText)}) // six bytes each
	}
	if err := s.write(full); err == nil || !strings.Contains(err.Error(), "bytes together") {
		t.Errorf("%.200v", err)
	}
	if got, err := s.Read(about); err != nil || len(got.Comments) != len(d.Comments) {
		t.Errorf("%d comments, %v", len(got.Comments), err)
	}
}

// TestALinkIsNotFollowed in place of the folder or of a draft.
func TestALinkIsNotFollowed(t *testing.T) {
	s, outside := Store{t.TempDir()}, t.TempDir()
	if err := os.Symlink(outside, filepath.Join(s.Home, "drafts")); err != nil {
		t.Skip(err)
	}
	if err := s.Comment(about, Comment{"a", "n1", "q", "text"}); err == nil {
		t.Error("a comment was written through a link")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("%v", entries)
	}
}

// TestCommentsInParallelAreAllSaved: a page sends several at once, and two pages may be open.
func TestCommentsInParallelAreAllSaved(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	const many = 20
	for i := range many {
		all.Go(func() {
			if err := (Store{dir}).Comment(about, Comment{"a.go", fmt.Sprintf("n%d", i+1), "q", "text"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := Store{dir}
	d, err := s.Read(about)
	if err != nil || len(d.Comments) != many {
		t.Errorf("%v: %d comments are left of %d", err, len(d.Comments), many)
	}
	if stale, err := s.Stale(Subject{about.Branch, about.Task, "s3"}); err != nil || len(stale) != 1 {
		t.Errorf("%v, %v", stale, err)
	}
}

// TestADraftThatCannotBeReadIsKept: it is named, and neither replaced nor taken for an empty one.
func TestADraftThatCannotBeReadIsKept(t *testing.T) {
	comment := Comment{"a.go", "n1", "q", "text"}
	for name, c := range map[string]struct {
		spoil func(s Store, path string) error
		want  string // of the error
	}{
		"damaged":    {func(_ Store, path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, "fix@t-20260102-030405@s2.json: unexpected end"},
		"a folder":   {func(_ Store, path string) error { return os.Mkdir(path, 0o700) }, ""},
		"a link":     {func(s Store, path string) error { return os.Symlink(filepath.Join(s.Home, "other"), path) }, ""},
		"no project": {func(s Store, _ string) error { return os.RemoveAll(s.Home) }, ""},
		"a file before": {func(s Store, _ string) error {
			return errors.Join(os.RemoveAll(filepath.Join(s.Home, "drafts")), os.WriteFile(filepath.Join(s.Home, "drafts"), nil, 0o600))
		}, ""},
	} {
		s := Store{filepath.Join(t.TempDir(), "home")}
		path := filepath.Join(s.Home, "drafts", "fix@t-20260102-030405@s2.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), c.spoil(s, path)); err != nil {
			t.Fatal(err)
		}
		d, read := s.Read(about)
		stale, err := s.Stale(Subject{about.Branch, about.Task, "s3"})
		if read == nil || !strings.Contains(read.Error(), c.want) || len(d.Comments) != 0 || d.Subject != about || err == nil || len(stale) != 0 {
			t.Errorf("%s: %+v, %v; stale are %v, %v", name, d, read, stale, err)
		}
		was, _ := os.Lstat(path)
		if err := s.Comment(about, comment); err == nil {
			t.Errorf("%s: a comment is added", name)
		}
		if is, _ := os.Lstat(path); (was == nil) != (is == nil) || was != nil && !os.SameFile(was, is) {
			t.Errorf("%s: the draft was replaced", name)
		}
	}
	s := Store{t.TempDir()}
	if _, err := s.Remove(Subject{Task: "../t", Submission: "s1"}); err == nil {
		t.Error("a path is removed")
	}
	if _, err := s.Read(Subject{Task: "../t", Submission: "s1"}); err == nil {
		t.Error("a path is read")
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(s.Home, "drafts", "fix@t-20260102-030405@s2.json", "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(about); err == nil {
		t.Error("a folder that is not empty was removed")
	}
}

// TestADraftHasAnEnd: so many comments, and so much of a line that is quoted.
func TestADraftHasAnEnd(t *testing.T) {
	s := Store{t.TempDir()}
	full := Draft{Subject: about}
	for n := range maxComments - 1 {
		full.Comments = append(full.Comments, Comment{"a.go", fmt.Sprintf("n%d", n+1), "q", "text"})
	}
	if unlock, err := s.lock(about); err != nil {
		t.Fatal(err)
	} else if err := s.write(full); err != nil {
		t.Fatal(err)
	} else {
		unlock()
	}
	long := Comment{"a.go", "o7", strings.Repeat("ä", 401), strings.Repeat("x", maxText)}
	if err := s.Comment(about, long); err != nil {
		t.Fatal(err)
	}
	if err := s.Comment(about, Comment{"a.go", "o8", strings.Repeat("ä", 400), "text"}); err == nil || !strings.Contains(err.Error(), "at most 200 comments") {
		t.Errorf("one more: %v", err)
	}
	if err := s.Comment(about, Comment{"a.go", "o8", "", ""}); err != nil {
		t.Errorf("none is removed: %v", err)
	}
	if err := s.Comment(about, Comment{"a.go", "n1", strings.Repeat("ä", 400), "other"}); err != nil {
		t.Errorf("one is replaced: %v", err)
	}
	d, err := s.Read(about)
	if err != nil || len(d.Comments) != maxComments {
		t.Fatalf("%d comments, %v", len(d.Comments), err)
	}
	if last := d.Comments[maxComments-1]; last.Quote != strings.Repeat("ä", 400)+"…" || last.Text != long.Text {
		t.Errorf("%+v", last)
	}
	if first := d.Comments[0]; first.Quote != strings.Repeat("ä", 400) || first.Text != "other" {
		t.Errorf("%+v", first)
	}
}

// TestAViewedFileStaysViewed over the next submission of its task, as long as its content is the same, and is no comment.
func TestAViewedFileStaysViewed(t *testing.T) {
	s := Store{t.TempDir()}
	next, other := about, about
	next.Submission, other.Task = "s3", "t-20260102-030406"
	for _, step := range []struct {
		file, id string
		viewed   bool
		want     map[string]string
	}{
		{"a.go", "aa11", true, map[string]string{"a.go": "aa11"}},
		{"b.go", "", true, map[string]string{"a.go": "aa11", "b.go": ""}},
		{"a.go", "bb22", true, map[string]string{"a.go": "bb22", "b.go": ""}},
		{"b.go", "", false, map[string]string{"a.go": "bb22"}},
		{"c.go", "cc", false, map[string]string{"a.go": "bb22"}},
	} {
		if err := s.View(about, step.file, step.id, step.viewed); err != nil {
			t.Fatal(err)
		}
		got, err := s.Viewed(next)
		if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v\n%s", step, err, diff)
		}
	}
	if got, err := s.Viewed(other); err != nil || len(got) != 0 {
		t.Errorf("of another task: %v, %v", got, err)
	}
	if list, err := s.Stale(next); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range [][2]string{{"", "a"}, {strings.Repeat("a", 5000), "a"}, {"a", "../a"}, {"a", strings.Repeat("a", 100)}} {
		if err := s.View(about, bad[0], bad[1], true); err == nil {
			t.Errorf("%.40q", bad)
		}
	}
	if err := s.View(Subject{"../x", "t", "s1"}, "a", "b", true); err == nil {
		t.Error("a branch that is a path")
	}
	name, _ := about.viewedName()
	for text, wrong := range map[string]bool{"null": false, "[]": true, `{"a": 1}`: true} {
		if err := os.WriteFile(filepath.Join(s.Home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.View(about, "a", "b", true); (err != nil) != wrong {
			t.Errorf("%s: %v", text, err)
		}
	}
}
