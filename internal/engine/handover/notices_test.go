package handover_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestMain(m *testing.M) { os.Exit(worktreetest.Main(m, nil)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A work is a task whose executor has changed a file.
type work struct {
	dir  string
	tree *worktree.Tree
	task state.Task
	now  string // the tree of its work
}

func newWork(t *testing.T, text string) *work {
	t.Helper()
	w := &work{dir: worktreetest.Committed(t)}
	w.tree = worktreetest.Open(t, w.dir)
	w.task = state.Task{TaskID: "t-1", State: state.Executing, BaseTree: worktreetest.Fingerprint(t, w.tree)}
	w.task.Head, w.task.HeadBranch = w.tree.HeadNow(t.Context())
	worktreetest.Write(t, w.dir, "a.txt", text)
	w.now = worktreetest.Fingerprint(t, w.tree)
	return w
}

func (w *work) open() (*worktree.Tree, error) { return w.tree, nil }

// never is a work tree that nobody has asked for.
func never() (*worktree.Tree, error) { return nil, errors.New("nobody has asked for the work tree") }

// lost takes the objects away without which git answers nothing. It returns what brings them back.
func (w *work) lost(t *testing.T) (back func()) {
	t.Helper()
	var renamed []string
	for _, name := range []string{".git/objects", ".ferrus/git/objects"} {
		path := filepath.Join(w.dir, name)
		must(t, os.Rename(path, path+"-gone"))
		renamed = append(renamed, path)
	}
	return func() {
		for _, path := range renamed {
			must(t, errors.Join(os.RemoveAll(path), os.Rename(path+"-gone", path)))
		}
	}
}

// TestAReaderIsToldWhatThePatchDoesNotShow: each in a line that begins with what it is about, and nothing where there is nothing to tell.
func TestAReaderIsToldWhatThePatchDoesNotShow(t *testing.T) {
	w := newWork(t, "two\n")
	unseen := func(open func() (*worktree.Tree, error), task state.Task, to string, skipped ...worktree.Skipped) []string {
		return handover.Unseen(t.Context(), open, task, to, skipped, "alt", true)
	}
	skipped := worktree.Skipped{Path: "big.bin", Size: 40 << 20}
	touched, over := w.task, w.task
	touched.Check.Touched, over.State = "a.txt", state.Complete
	const isEmpty, wasTouched = "empty: no file differs", "touched: these files were written or replaced while the check ran, and are as before now: a.txt"
	for name, c := range map[string]struct {
		got  []string
		want []string // how the lines begin
	}{
		"nothing":               {unseen(w.open, w.task, w.now), nil},
		"no file has changed":   {unseen(w.open, w.task, w.task.BaseTree), []string{isEmpty}},
		"a file was not read":   {unseen(w.open, w.task, w.task.BaseTree, skipped), []string{"unseen: not read, and counted as before: big.bin: "}},
		"nothing was handed in": {unseen(never, touched, ""), []string{wasTouched}},
		"a file was touched":    {unseen(w.open, touched, w.task.BaseTree), []string{isEmpty, wasTouched}},
		"without a base":        {unseen(never, state.Task{TaskID: "t-1"}, w.now), nil},
		"it cannot be opened":   {unseen(never, w.task, w.now), []string{"unseen: not known: nobody has asked for the work tree"}},
		"it is no tree":         {unseen(w.open, w.task, "no tree"), []string{"unseen: not known: "}},
	} {
		if len(c.got) != len(c.want) || !slices.EqualFunc(c.got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, not %q", name, c.got, c.want)
		}
	}
	if got := unseen(w.open, w.task, w.task.BaseTree, skipped); !strings.HasSuffix(got[0], "ferrus diff --full --branch alt") {
		t.Errorf("how it is read: %q", got)
	}

	interrupted, cancel := context.WithCancel(t.Context())
	cancel() // what is hidden is known, the rest is not
	if got := handover.Unseen(interrupted, w.open, w.task, w.now, nil, "alt", true); len(got) != 1 || !strings.HasPrefix(got[0], "unseen: not known: ") {
		t.Errorf("git does not answer: %q", got)
	}
	other := newWork(t, "three\n")
	back := other.lost(t)
	if got := handover.Unseen(t.Context(), other.open, other.task, other.now, nil, "alt", true); len(got) != 1 || !strings.HasPrefix(got[0], "unseen: not known: ") {
		t.Errorf("the objects are gone: %q", got)
	}
	back()
	worktreetest.Embed(t, w.dir, "inner", true)
	worktreetest.Write(t, w.dir, "b.txt", "a\u202eb\n")
	worktreetest.RunGit(t, w.dir, "add", "b.txt")
	worktreetest.RunGit(t, w.dir, "commit", "-qm", "mine")
	now := worktreetest.Fingerprint(t, w.tree)
	want := []string{handover.HiddenTag, "unseen: ", "unseen: not read", "touched: ", handover.HeadNotice + "1 commit on main"}
	if got := unseen(w.open, touched, now, skipped); len(got) != len(want) || !slices.EqualFunc(got, want, strings.HasPrefix) || !strings.Contains(got[0], "b.txt has U+202E") {
		t.Errorf("%q, not %q", got, want)
	}
	if h := handover.HeadOf(t.Context(), w.tree, w.task, "no tree"); h == nil || h.How != handover.Committed || h.Paths != nil {
		t.Errorf("which files are the work is not known: %+v", h)
	}
	if got := unseen(w.open, over, now); slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, handover.HeadNotice) }) {
		t.Errorf("of a task that is over: %q", got)
	}
}

// TestAPatchWithHiddenCharactersIsReadWithMarks, and git gets it as it is. A patch that is there is not made again.
func TestAPatchWithHiddenCharactersIsReadWithMarks(t *testing.T) {
	w := newWork(t, "a\u202eb\n")
	place := project.At(w.dir, "")
	w.task.Submission = state.Submission{Tree: w.now, Patch: "logs/s1.patch"}
	must(t, os.MkdirAll(place.Path("logs"), 0o700))
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		must(t, err)
		return string(text)
	}
	_, _, err := handover.Patch(t.Context(), never, place, w.task, nil)
	if err == nil {
		t.Error("there is a patch without a work tree")
	}
	for _, open := range []func() (*worktree.Tree, error){w.open, never} {
		path, exact, err := handover.Patch(t.Context(), open, place, w.task, nil)
		if err != nil || exact != "" || path != place.Path("logs/s1.patch") || !strings.Contains(read(path), "+a\u202eb\n") {
			t.Fatalf("%s, %s, %v", path, exact, err)
		}
	}
	notices := []string{"empty: no", handover.HiddenTag + "b.txt"}
	path, exact, err := handover.Patch(t.Context(), w.open, place, w.task, notices)
	if err != nil || exact != place.Path("logs/s1.patch") || path != place.Path("logs/s1.marked.patch") || !strings.Contains(read(path), "+a<U+202E>b\n") || !strings.Contains(read(exact), "+a\u202eb\n") {
		t.Errorf("%s, %s, %v", path, exact, err)
	}
	if _, _, err := handover.Patch(t.Context(), never, place, w.task, notices); err == nil {
		t.Error("a patch with marks is read without a work tree")
	}
	must(t, os.Remove(exact))
	if _, exact, err := handover.Patch(t.Context(), w.open, place, w.task, notices); err != nil || !strings.Contains(read(exact), "+a\u202eb\n") {
		t.Errorf("the exact one was gone: %v", err)
	}

	err = handover.WritePatch(t.Context(), w.tree, place, w.task.BaseTree, "no tree", "logs/s2.patch")
	if refusal.CodeOf(err) == "" {
		t.Errorf("of no tree: %v", err)
	}
	must(t, os.RemoveAll(place.Path("logs")))
	must(t, os.WriteFile(place.Path("logs"), nil, 0o600))
	err = handover.WritePatch(t.Context(), w.tree, place, w.task.BaseTree, w.now, "logs/s1.patch")
	if refusal.CodeOf(err) != refusal.StoreError || !strings.Contains(err.Error(), "check whether the disk is full") {
		t.Errorf("%v", err)
	}
}

// TestHiddenCharactersAreLookedForOnce: whoever has made the patch knows them, and whoever has asked.
func TestHiddenCharactersAreLookedForOnce(t *testing.T) {
	w := newWork(t, "a\u2066b\n")
	back := w.lost(t)
	if notice, err := handover.HiddenIn(t.Context(), w.tree, w.task.BaseTree, w.now); err == nil || notice != "" {
		t.Errorf("without the objects: %q, %v", notice, err)
	}
	back()
	place := project.At(w.dir, "")
	must(t, os.MkdirAll(place.Path("logs"), 0o700))
	must(t, handover.WritePatch(t.Context(), w.tree, place, w.task.BaseTree, w.now, "logs/s1.patch"))
	defer w.lost(t)()
	if notice, err := handover.HiddenIn(t.Context(), w.tree, w.task.BaseTree, w.now); err != nil || !strings.Contains(notice, "a.txt has U+2066") {
		t.Errorf("the patch was made: %q, %v", notice, err)
	}

	asked := newWork(t, "a\u2067b\n")
	for range 2 {
		if notice, err := handover.HiddenIn(t.Context(), asked.tree, asked.task.BaseTree, asked.now); err != nil || !strings.Contains(notice, "a.txt has U+2067") {
			t.Errorf("%q, %v", notice, err)
		}
		if _, err := os.Stat(filepath.Join(asked.dir, ".git/objects")); err == nil {
			defer asked.lost(t)()
		}
	}
	plain, err := worktree.Open(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "git"), worktree.Options{})
	must(t, err)
	if notice, err := handover.HiddenIn(t.Context(), plain, "a", "b"); err != nil || notice != "" {
		t.Errorf("without git: %q, %v", notice, err)
	}
}

// TestTheWorkOfATaskIsItsSubmissionOrTheFilesAsTheyAre: the submission needs no work tree.
func TestTheWorkOfATaskIsItsSubmissionOrTheFilesAsTheyAre(t *testing.T) {
	w := newWork(t, "two\n")
	submitted := w.task
	submitted.State, submitted.Submission.Tree = state.Reviewing, w.task.BaseTree
	if id, skipped, err := handover.Work(t.Context(), nil, submitted); id != w.task.BaseTree || skipped != nil || err != nil {
		t.Errorf("%s, %v, %v", id, skipped, err)
	}
	id, skipped, err := handover.Work(t.Context(), w.tree, w.task)
	if err != nil || id != w.now || skipped != nil {
		t.Errorf("%s, %v, %v", id, skipped, err)
	}
	must(t, os.Truncate(filepath.Join(w.dir, "src/b.go"), worktree.MaxShown+1))
	id, lines, err := handover.Inspect(t.Context(), w.tree, w.task, "")
	if err != nil || id != w.now || len(lines) != 1 || !strings.Contains(lines[0], "src/b.go") || !strings.HasSuffix(lines[0], "; to read it: ferrus diff --full") {
		t.Errorf("%s, %q, %v", id, lines, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if id, lines, err := handover.Inspect(over, w.tree, w.task, ""); id != "" || lines != nil || refusal.CodeOf(err) == "" {
		t.Errorf("interrupted: %q, %q, %v", id, lines, err)
	}
}

// TestWorkIsUncommittedUntilItIsCommitted, and git is asked again only when the task, HEAD or the index has changed.
func TestWorkIsUncommittedUntilItIsCommitted(t *testing.T) {
	w := newWork(t, "two\n")
	w.task.State, w.task.Seq, w.task.Submission.Tree = state.Complete, 7, w.now
	var m handover.Memory
	want := func(when string, want, fails bool) {
		t.Helper()
		if open, err := m.Uncommitted(t.Context(), w.tree, w.task); open != want || (err != nil) != fails {
			t.Errorf("%s: %v, %v", when, open, err)
		}
	}
	back := w.lost(t)
	want("nothing is known", false, true)
	back()
	want("it is not committed", true, false)
	back = w.lost(t)
	want("nothing has changed", true, false)
	w.task.Seq++
	want("the task has changed, and git does not answer", false, true)
	back()
	want("the task has changed", true, false)
	worktreetest.RunGit(t, w.dir, "commit", "-qam", "mine")
	want("it is committed", false, false)
}
