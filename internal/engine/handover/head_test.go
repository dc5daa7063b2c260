package handover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// TestWhereHeadHasGoneIsSaidAsItIs: what git did to HEAD since the task was created, with the files of the work that are in commits,
// and without a program of the repository.
func TestWhereHeadHasGoneIsSaidAsItIs(t *testing.T) {
	worktreetest.Isolate(t)
	commit := func(t *testing.T, dir, name string, more ...string) {
		worktreetest.Write(t, dir, name, name+"\n")
		worktreetest.RunGit(t, dir, "add", name)
		worktreetest.RunGit(t, dir, append([]string{"commit", "-qm", name}, more...)...)
	}
	for name, c := range map[string]struct {
		do       func(t *testing.T, dir string)
		how      handover.How // "" for no difference
		switched bool
		commits  int
		files    string
		says     string
	}{
		"nothing":           {func(t *testing.T, dir string) { worktreetest.Write(t, dir, "work.txt", "x") }, "", false, 0, "", ""},
		"the index":         {func(t *testing.T, dir string) { worktreetest.RunGit(t, dir, "add", "work.txt") }, "", false, 0, "", ""},
		"a commit":          {func(t *testing.T, dir string) { commit(t, dir, "other.txt") }, handover.Committed, false, 1, "other.txt", "1 commit on main"},
		"commits":           {func(t *testing.T, dir string) { commit(t, dir, "a"); commit(t, dir, "b") }, handover.Committed, false, 2, "a b", "2 commits on main"},
		"a reset":           {func(t *testing.T, dir string) { worktreetest.RunGit(t, dir, "reset", "-q", "--hard", "HEAD~1") }, handover.Back, false, 0, "second", "main was moved back"},
		"an amended commit": {func(t *testing.T, dir string) { commit(t, dir, "other.txt", "--amend") }, handover.Amended, false, 1, "other.txt", "was amended"},
		"a rebase": {func(t *testing.T, dir string) {
			worktreetest.RunGit(t, dir, "checkout", "-q", "--detach", "old")
			commit(t, dir, "under", "--amend")
			onto := strings.TrimSpace(worktreetest.RunGit(t, dir, "rev-parse", "HEAD"))
			worktreetest.RunGit(t, dir, "checkout", "-q", "main")
			worktreetest.RunGit(t, dir, "rebase", "-q", "--onto", onto, "old")
		}, handover.Rewritten, false, 2, "under", "history of main was rewritten"},
		"another branch": {func(t *testing.T, dir string) { worktreetest.RunGit(t, dir, "checkout", "-q", "old") }, handover.Back, true, 0, "second",
			"switched from main at"},
		"another branch of the same commit": {func(t *testing.T, dir string) { worktreetest.RunGit(t, dir, "checkout", "-qb", "new") }, handover.Same, true, 0, "",
			"switched from main to new, at the same commit"},
		"no branch": {func(t *testing.T, dir string) { worktreetest.RunGit(t, dir, "checkout", "-q", "--detach") }, handover.Same, true, 0, "", "to no branch"},
		"the work is committed as it was": {func(t *testing.T, dir string) {
			worktreetest.RunGit(t, dir, "add", "begun.txt")
			worktreetest.RunGit(t, dir, "commit", "-qm", "begun")
		}, handover.Committed, false, 1, "", "1 commit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			worktreetest.RunGit(t, dir, "init", "-q", "-b", "main")
			commit(t, dir, "first")
			worktreetest.RunGit(t, dir, "branch", "old")
			commit(t, dir, "second")
			worktreetest.Write(t, dir, "begun.txt", "not committed when the task begins\n")
			if err := os.Mkdir(filepath.Join(dir, ".ferrus"), 0o700); err != nil {
				t.Fatal(err)
			}
			tree, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus/git"), worktree.Options{})
			if err != nil {
				t.Fatal(err)
			}
			task := state.Task{TaskID: "t", State: state.Executing}
			if task.BaseTree, err = tree.Fingerprint(t.Context()); err != nil {
				t.Fatal(err)
			}
			task.Head, task.HeadBranch = tree.HeadNow(t.Context())
			worktreetest.Write(t, dir, "work.txt", "of an executor\n")
			c.do(t, dir)
			ran := filepath.Join(dir, "..", filepath.Base(dir)+"-ran")
			worktreetest.Write(t, dir, ".gitattributes", "* filter=f diff=d merge=m\n")
			for _, key := range []string{"filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.external", "diff.d.command", "diff.d.textconv", "core.fsmonitor", "core.sshCommand", "gpg.program"} {
				worktreetest.RunGit(t, dir, "config", key, "touch '"+ran+"'; cat")
			}
			worktreetest.RunGit(t, dir, "config", "log.showSignature", "true")
			os.Remove(ran)
			to, err := os.ReadFile(filepath.Join(dir, ".git/HEAD"))
			if err != nil {
				t.Fatal(err)
			}
			h := handover.HeadOf(t.Context(), tree, task, "")
			if _, err := os.Stat(ran); err == nil {
				t.Error("a program of the repository ran")
			}
			if c.how == "" {
				if h != nil {
					t.Errorf("%+v", h)
				}
				return
			}
			if h == nil || h.How != c.how || h.Switched != c.switched || h.Commits != c.commits || h.From != task.Head || !strings.Contains(h.String(), c.says) {
				t.Fatalf("%+v %s, HEAD %s", h, h, to)
			}
			want := strings.Fields(c.files)
			if name == "the work is committed as it was" { // it is in a commit, and no part of the work
				want = []string{"begun.txt"}
			}
			if !slices.Equal(h.Files, want) {
				t.Errorf("files %q, want %q", h.Files, want)
			}
			for _, key := range []string{"filter.f.clean", "filter.f.process"} {
				worktreetest.RunGit(t, dir, "config", "--unset", key)
			}
			worktreetest.Remove(t, dir, ".gitattributes")
			now, err := tree.Fingerprint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if h = handover.HeadOf(t.Context(), tree, task, now); !slices.Equal(h.Files, strings.Fields(c.files)) {
				t.Errorf("of the work %q, want %q", h.Files, c.files)
			}
			objects := filepath.Join(dir, ".git/objects") // without them git answers nothing
			if err := os.Rename(objects, objects+"-gone"); err != nil {
				t.Fatal(err)
			}
			if again := handover.HeadOf(t.Context(), tree, task, now); !reflect.DeepEqual(again, h) {
				t.Errorf("git is asked again: %+v, not %+v", again, h)
			}
			if err := os.Rename(objects+"-gone", objects); err != nil {
				t.Fatal(err)
			}
			notices := handover.Unseen(t.Context(), func() (*worktree.Tree, error) { return tree, nil }, task, now, nil, "", true)
			if !slices.Contains(notices, handover.HeadNotice+h.String()) {
				t.Errorf("a reviewer is not told: %q", notices)
			}
		})
	}
}

// TestFilesOfCommitsAreCounted, also those that are not listed.
func TestFilesOfCommitsAreCounted(t *testing.T) {
	h := handover.Head{How: handover.Committed}
	for i := range 150 {
		h.Paths = append(h.Paths, fmt.Sprint("f", i))
	}
	h.Files = git.Listed(slices.Clone(h.Paths))
	if text := h.String(); !strings.HasSuffix(text, "f0, f1, f2, f3, f4 and 145 more") {
		t.Error(text)
	}
}
