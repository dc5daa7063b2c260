package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestWhatIsKeptSurvivesEveryCollection(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T) string{
		"a repository": func(t *testing.T) string { return committed(t) },
		"no commit":    func(t *testing.T) string { return repository(t) },
		"sha256": func(t *testing.T) string {
			isolate(t)
			dir := t.TempDir()
			runGit(t, dir, "init", "-q", "--object-format=sha256")
			write(t, dir, "src/b.go", "b")
			runGit(t, dir, "add", ".")
			runGit(t, dir, "commit", "-qm", "one")
			return dir
		},
		"a linked work tree": func(t *testing.T) string {
			linked := filepath.Join(t.TempDir(), "linked")
			runGit(t, committed(t), "worktree", "add", "-q", "-b", "x", linked)
			return linked
		},
		"beside a bare repository": func(t *testing.T) string {
			bare, alone := filepath.Join(t.TempDir(), "bare.git"), filepath.Join(t.TempDir(), "alone")
			runGit(t, committed(t), "clone", "-q", "--bare", ".", bare)
			runGit(t, bare, "worktree", "add", "-q", alone, "main")
			return alone
		},
		"a borrowed object store": func(t *testing.T) string {
			near := filepath.Join(t.TempDir(), "near")
			runGit(t, committed(t), "clone", "-q", "--shared", ".", near)
			return near
		},
		"a submodule": func(t *testing.T) string {
			dir, sub := committed(t), filepath.Join(t.TempDir(), "sub")
			runGit(t, dir, "clone", "-q", ".", sub)
			runGit(t, dir, "submodule", "add", "-q", sub, "sub")
			runGit(t, dir, "commit", "-qm", "sub")
			runGit(t, filepath.Join(dir, "sub"), "commit", "-q", "--allow-empty", "-m", "two")
			return dir
		},
		"a sparse checkout": func(t *testing.T) string {
			dir := committed(t)
			runGit(t, dir, "sparse-checkout", "set", "new")
			return dir
		},
	} {
		for _, many := range []bool{false, true} {
			if many && !kit.Full() && name != "a repository" {
				continue
			}
			t.Run(fmt.Sprintf("%s, many files: %v", name, many), func(t *testing.T) {
				dir := make(t)
				disturb(t, dir)
				for i := range 300 {
					if many {
						write(t, dir, fmt.Sprintf("n/%d/%d", i%7, i), fmt.Sprint(i))
					}
				}
				id := save(t, open(t, dir), "task/1")
				remove(t, dir, ".ferrus/git")
				runGit(t, dir, "reset", "-q")
				write(t, dir, "other", "")
				runGit(t, dir, "add", "other")
				runGit(t, dir, "commit", "-q", "-m", "rewritten")
				runGit(t, dir, "update-ref", "HEAD", strings.TrimSpace(runGit(t, dir, "commit-tree", "HEAD^{tree}", "-m", "orphan")))
				collect(t, dir)
				runGit(t, dir, "gc", "-q", "--prune=now")
				whole(t, dir, "task/1", id)
				if got := fresh(t, dir); name != "a sparse checkout" && got == id {
					t.Error("the other file does not count")
				}
				if kept, err := open(t, dir).ReadRef(t.Context(), "task/1"); kept != id || err != nil {
					t.Errorf("Kept: %s, %v; want %s", kept, err, id)
				}
			})
		}
	}
}

func TestKeepingTouchesNothingElse(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "a.txt", "stashed\n")
	runGit(t, dir, "stash")
	disturb(t, dir)
	configure(t, dir, "[core]\nlogAllRefUpdates = always\n[i18n]\ncommitEncoding = latin1\n[gc]\nauto = 1\n")
	for _, hook := range []string{"reference-transaction", "post-index-change"} {
		write(t, dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch hooked\n")
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := users(t, dir)
	tree := open(t, dir)
	id := save(t, tree, "t/1")
	if err := tree.SaveRef(t.Context(), "t/2", id); err != nil {
		t.Fatal(err)
	}
	if n, err := tree.DeleteRefs(t.Context(), "t/1"); n != 1 || err != nil {
		t.Errorf("Forget: %d, %v", n, err)
	}
	if diff := cmp.Diff(before, users(t, dir)); diff != "" {
		t.Errorf("the .git folder changed:\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(dir, "hooked")); err == nil {
		t.Error("a hook of the user's ran")
	}
	if text := runGit(t, dir, "cat-file", "-p", "refs/ferrus/t/2"); text != "tree "+id+"\nauthor ferrus <ferrus@localhost> 0 +0000\ncommitter ferrus <ferrus@localhost> 0 +0000\n\nferrus\n" {
		t.Errorf("the commit:\n%s", text)
	}
}

// The private store borrows from the user's, which git may empty of what nothing leads to.
func TestWhatGitHasDeletedIsSavedAgain(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	disturb(t, dir)
	tree := open(t, dir)
	id := fingerprint(t, tree)
	runGit(t, dir, "reset", "-q")
	collect(t, dir)
	if err := tree.SaveRef(t.Context(), "t/1", id); err == nil || !strings.Contains(err.Error(), "gone from the repository") {
		t.Errorf("Keep: %v", err)
	}
	if names, err := tree.Refs(t.Context(), ""); len(names) > 0 || err != nil {
		t.Errorf("Refs: %q, %v", names, err)
	}
	if got := save(t, tree, "t/1"); got != id {
		t.Errorf("saved %s, want %s", got, id)
	}
	collect(t, dir)
	whole(t, dir, "t/1", id)
}

// What was kept last is what the next tree is compared with. Another process may have forgotten it, long ago or just
// now; git has deleted then what is old.
func TestAForgottenTreeIsNotBuiltUpon(t *testing.T) {
	// What a git prune deletes that had begun before: it spares what the young lead to, as far as it saw them.
	const script = `git update-ref -d refs/ferrus/t/1; find .git/objects/?? -type f -mmin +60 -delete`
	for _, c := range []struct {
		next string
		step int    // the change of ferrus's own before which it is forgotten: the first, or the ref itself
		wrap string // instead of update-ref, once
	}{
		{"t/2", 0, ""},
		{"t/2", 1, ""},
		{"t/2", 4, ""},
		{"u/2", 0, script}, // git makes the folder
		{"t/1", 0, script}, // and changes a ref
	} {
		dir := committed(t)
		runGit(t, dir, "gc", "-q")
		disturb(t, dir)
		tree := open(t, dir)
		save(t, tree, "t/1")
		runGit(t, dir, "reset", "-q")
		then := time.Now().Add(-2 * time.Hour)
		for path := range inventory(t, filepath.Join(dir, ".git/objects")) {
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
		path, ran := os.Getenv("PATH"), false
		at := func(name string) bool { return exists(filepath.Join(dir, ".git/refs/ferrus", name)) }
		write(t, dir, ".git/refs/ferrus/t/0", runGit(t, dir, "rev-parse", "HEAD")) // the folder stays
		switch {
		case c.step > 0:
			step := 0
			tree.OnChange(func() {
				if step++; step == c.step {
					cmd := exec.Command("sh", "-c", script)
					cmd.Dir, ran = dir, true
					if out, err := cmd.CombinedOutput(); err != nil || at("t/1") || at("t/2") {
						t.Errorf("%v: %s", err, out)
					}
				}
			})
		case c.wrap != "":
			wrap(t, fmt.Sprintf(`case " $* " in *" update-ref "*) if [ ! -e .git/once ]; then touch .git/once; %s; fi;; esac`,
				strings.ReplaceAll(c.wrap, "git update-ref", `"$REAL" update-ref`)))
		default:
			if n, err := open(t, dir).DeleteRefs(t.Context(), "t"); n != 2 || err != nil {
				t.Fatalf("Forget: %d, %v", n, err)
			}
			collect(t, dir)
		}
		write(t, dir, "one more", "x")
		id := save(t, tree, c.next)
		os.Setenv("PATH", path)
		if ran != (c.step > 0) {
			t.Errorf("step %d: nothing was forgotten", c.step)
		}
		collect(t, dir)
		whole(t, dir, c.next, id)
	}
}

// Another process that keeps the same objects may be ahead, and have them in a pack by now.
func TestAnotherKeeperIsAhead(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "shared", "by two")
	tree, other := open(t, dir), open(t, dir)
	id := fingerprint(t, tree)
	ahead := false
	tree.OnChange(func() {
		if ahead {
			return
		}
		ahead = true
		for i := range 150 {
			write(t, dir, fmt.Sprintf("n/%d", i), fmt.Sprint(i))
		}
		save(t, other, "t/2")
	})
	if err := tree.SaveRef(t.Context(), "t/1", id); err != nil || !ahead {
		t.Errorf("Keep: %v; another was ahead: %v", err, ahead)
	}
	whole(t, dir, "t/1", id)
}

func TestNothingStaysBehindInThePrivateStore(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	disturb(t, dir)
	tree := open(t, dir)
	for i := range 3 {
		for j := range 99 * i { // none, the first few, many
			write(t, dir, fmt.Sprintf("n/%d", j), fmt.Sprint(i, j))
		}
		save(t, tree, fmt.Sprintf("t/%d", i))
		if left, _ := filepath.Glob(filepath.Join(dir, ".ferrus/git/objects/??/*")); len(left) > 0 {
			t.Errorf("step %d: %d objects left", i, len(left))
		}
	}
	if packs, _ := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.pack")); len(packs) != 2 {
		t.Errorf("%d packs, want one for each of the large", len(packs))
	}
}

func TestManyKeepersAtOnce(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	disturb(t, dir)
	for i := range 150 {
		write(t, dir, fmt.Sprintf("n/%d", i), fmt.Sprint(i))
	}
	ids := make([]string, 6)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			tree := open(t, dir)
			for j := range 3 {
				var err error
				if ids[i], err = tree.Save(t.Context(), fmt.Sprintf("t-%d/%d", i, j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	runGit(t, dir, "reset", "-q")
	collect(t, dir)
	for i, id := range ids {
		whole(t, dir, fmt.Sprintf("t-%d/2", i), id)
	}
}

// A git gc that has begun before the ref was made may delete what was brought over. The git of this test does so at the
// last moment.
func TestACollectionInTheMiddleOfAKeep(t *testing.T) {
	for _, c := range []struct {
		n      int
		folder bool // which the ref comes into is there
	}{{1, false}, {200, false}, {1, true}} {
		dir := committed(t)
		disturb(t, dir)
		runGit(t, dir, "reset", "-q")
		runGit(t, dir, "gc", "-q", "--prune=now")
		if c.folder {
			write(t, dir, ".git/refs/ferrus/t/0", runGit(t, dir, "rev-parse", "HEAD"))
		}
		write(t, dir, ".git/mark", "")
		for i := range c.n {
			write(t, dir, fmt.Sprintf("n/%d", i), fmt.Sprint(i))
		}
		tree := open(t, dir)
		// What its commit names is checked by git itself.
		const clear = `find .git/objects -type f -newer .git/mark ! -name "$(cut -c3- .git/refs/ferrus/t/1)" -delete`
		wrap(t, `case " $* " in *" update-ref "*)
			"$REAL" "$@" || exit
			echo >.git/deleted; `+clear+`
			exit;; esac`)
		tree.OnChange(func() {
			if exists(filepath.Join(dir, ".git/refs/ferrus/t/1")) && !exists(filepath.Join(dir, ".git/deleted")) {
				cmd := exec.Command("sh", "-c", "echo >.git/deleted; "+clear)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil || !c.folder {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
		id := save(t, tree, "t/1")
		if !exists(filepath.Join(dir, ".git/deleted")) {
			t.Error("nothing was deleted")
		}
		whole(t, dir, "t/1", id)
	}
}

func TestAPrivateFolderOnAnotherDisk(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 200} {
		dir := committed(t)
		tree, err := worktree.Open(t.Context(), dir, filepath.Join(elsewhere(t), "git"), worktree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		from := save(t, tree, "t/1")
		disturb(t, dir)
		link(t, "new", filepath.Join(dir, "link"))
		chmod(t, dir, "new/deep/x", 0o755)
		for i := range n {
			write(t, dir, fmt.Sprintf("n/%d", i), fmt.Sprint(i))
		}
		id := save(t, tree, "t/2")
		runGit(t, dir, "reset", "-q")
		collect(t, dir)
		whole(t, dir, "t/2", id)
		for _, back := range [][2]string{{id, from}, {from, id}} {
			restored(t, tree, back[0], back[1])
			if got := fresh(t, dir); got != back[1] {
				t.Errorf("restored %s, want %s", got, back[1])
			}
		}
	}
}

func TestNothingIsKeptWithoutGit(t *testing.T) {
	dir := committed(t)
	late := open(t, dir)
	id := fingerprint(t, late)
	inside := inventory(t, dir)
	t.Setenv("PATH", t.TempDir())
	for name, tree := range map[string]*worktree.Tree{"never": open(t, dir), "no more": late} {
		ctx := t.Context()
		_, saved := tree.Save(ctx, "t/1")
		_, kept := tree.ReadRef(ctx, "t/1")
		_, forgot := tree.DeleteRefs(ctx, "t")
		_, listed := tree.Refs(ctx, "t")
		_, restored := restore.In(tree).Restore(ctx, id, id, "t/edits")
		_, merged := tree.Merge(ctx, id, id, id)
		_, _, headed := tree.Head(ctx)
		_, shared := tree.CopyRefs(ctx, "t", "u", func(string) bool { return true })
		_, head := tree.KeepHead(ctx, "x", "t/1")
		for verb, err := range map[string]error{
			"Save": saved, "Keep": tree.SaveRef(ctx, "t/1", id), "Kept": kept, "Forget": forgot, "Refs": listed, "Restore": restored,
			"Merge": merged, "Add": tree.Add(ctx, filepath.Join(dir, "x"), "x"), "Remove": tree.Remove(ctx, filepath.Join(dir, "x"), "x"), "Head": headed,
			"Blocked": restore.In(tree).Blocked(ctx, id, id), "Share": shared, "KeepHead": head,
		} {
			if !errors.Is(err, git.ErrNoGit) || !strings.Contains(err.Error(), "install git") {
				t.Errorf("%s where there is git %s: %v", verb, name, err)
			}
		}
	}
	after := inventory(t, dir)
	for path := range after {
		if strings.HasSuffix(path, ".lock") {
			delete(after, path)
		}
	}
	if diff := cmp.Diff(inside, after); diff != "" {
		t.Errorf("something was done:\n%s", diff)
	}
}
