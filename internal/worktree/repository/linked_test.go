package repository_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// linked checks that dir is a whole work tree on its branch, at that commit, and that nothing else is left of its making.
func linked(t *testing.T, main, dir, branch, commit string) {
	t.Helper()
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(main, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, on, err := tree.Head(t.Context()); got != commit || on != "ferrus/"+branch || err != nil {
		t.Errorf("Head: %s on %q, %v; want %s", got, on, err, commit)
	}
	if tree.Top() != dir {
		t.Errorf("the work tree in %s is %s", dir, tree.Top())
	}
	if said := runGit(t, dir, "status", "--porcelain"); said != "" {
		t.Errorf("git status: %s", said)
	}
	list := runGit(t, main, "worktree", "list", "--porcelain")
	if strings.Count(list, "worktree ") != 2 || strings.Contains(list, "locked") || strings.Contains(list, "prunable") {
		t.Errorf("git worktree list:\n%s", list)
	}
	alone(t, dir, true)
}

// alone checks that a folder, or none, is all that is where work trees are made.
func alone(t *testing.T, dir string, there bool) {
	t.Helper()
	want := 0
	if there {
		want = 1
	}
	if left, _ := filepath.Glob(filepath.Dir(dir) + "/*"); len(left) != want {
		t.Errorf("in the folder of work trees: %q", left)
	}
}

// gone checks that there is no work tree but the main one, and no branch of ours.
func gone(t *testing.T, main, dir string) {
	t.Helper()
	if list := runGit(t, main, "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("git worktree list:\n%s", list)
	}
	if left, _ := filepath.Glob(filepath.Join(main, ".git/worktrees/*")); len(left) > 0 {
		t.Errorf("git still has %q", left)
	}
	if out := runGit(t, main, "for-each-ref", "refs/heads/ferrus"); out != "" {
		t.Errorf("branches: %s", out)
	}
	alone(t, dir, false)
}

func head(t *testing.T, dir string) string {
	t.Helper()
	return strings.TrimSpace(runGit(t, dir, "rev-parse", "HEAD"))
}

func TestALinkedWorkTreeComesAndGoes(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	runGit(t, dir, "config", "core.fsmonitor", "false")
	write(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", "changed\n")
	tree, at, before := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x"), users(t, dir)
	snapshot := save(t, tree, "t/1")
	if err := tree.Add(t.Context(), at, "x"); err != nil {
		t.Fatal(err)
	}
	linked(t, dir, at, "x", head(t, dir))
	second, err := worktree.Open(t.Context(), at, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := restore.In(second).Restore(t.Context(), save(t, second, "t/2"), snapshot, "t/edits"); err != nil || len(c.Edited) > 0 {
		t.Fatalf("edited: %v, %v", c.Edited, err)
	}
	if got := fingerprint(t, second); got != snapshot {
		t.Errorf("the linked work tree has %s, want %s", got, snapshot)
	}
	write(t, at, "work", "of an agent")
	runGit(t, at, "add", ".")
	runGit(t, at, "commit", "-qm", "work")
	for range 2 {
		if err := tree.Remove(t.Context(), at, "x"); err != nil {
			t.Fatal(err)
		}
		gone(t, dir, at)
	}
	if diff := cmp.Diff(before, users(t, dir)); diff != "" {
		t.Errorf("the user's repository:\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(at, "hooked")); err == nil {
		t.Error("a hook of the user's ran")
	}
}

// TestAWorkTreeIsTheOneThatTheRepositorySays: whatever an agent has made of the .git file in it.
func TestAWorkTreeIsTheOneThatTheRepositorySays(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	private := filepath.Join(dir, ".ferrus", "git")
	at := func(name string) string { return filepath.Join(dir, ".ferrus/worktrees", name) }
	gitDir := func(name string) string {
		t.Helper()
		r, err := repository.Open(t.Context(), at(name), private, dir)
		if err != nil {
			t.Fatal(err)
		}
		return r.GitDir()
	}
	for _, name := range []string{"x", "y"} {
		if err := tree.Add(t.Context(), at(name), name); err != nil {
			t.Fatal(err)
		}
	}
	x, y := gitDir("x"), gitDir("y")
	if x == y {
		t.Fatalf("both are %s", x)
	}
	file := filepath.Join(at("x"), ".git")
	for what, make := range map[string]func() error{
		"names another":        func() error { return os.WriteFile(file, []byte("gitdir: "+y+"\n"), 0o600) },
		"names none":           func() error { return os.WriteFile(file, []byte("gitdir: /\n"), 0o600) },
		"names one that is no": func() error { return os.WriteFile(file, []byte("gitdir: "+filepath.Dir(y)+"/..\n"), 0o600) },
		"is gone":              func() error { return nil },
		"is a link":            func() error { return os.Symlink(filepath.Join(at("y"), ".git"), file) },
		"is a repository":      func() error { return os.Mkdir(file, 0o700) },
	} {
		if err := errors.Join(os.RemoveAll(file), make()); err != nil {
			t.Fatal(err)
		}
		if got := gitDir("x"); got != x {
			t.Errorf("a .git that %s: %s, want %s", what, got, x)
		}
	}
}

func TestWhereAWorkTreeIsAdded(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T) (dir string){
		"a subfolder": func(t *testing.T) string { return filepath.Join(committed(t), "src") },
		"a linked work tree": func(t *testing.T) string {
			dir := committed(t)
			at := filepath.Join(t.TempDir(), "y")
			runGit(t, dir, "worktree", "add", "-q", "-b", "y", at)
			runGit(t, at, "commit", "-q", "--allow-empty", "-m", "not of the main work tree")
			return at
		},
		"a detached head": func(t *testing.T) string {
			dir := committed(t)
			runGit(t, dir, "checkout", "-q", "--detach")
			return dir
		},
		"a sparse checkout": func(t *testing.T) string {
			dir := committed(t)
			runGit(t, dir, "sparse-checkout", "set", "lib")
			return dir
		},
		"a submodule": func(t *testing.T) string {
			dir, sub := committed(t), filepath.Join(t.TempDir(), "sub")
			runGit(t, dir, "clone", "-q", ".", sub)
			runGit(t, dir, "submodule", "add", "-q", sub, "sub")
			runGit(t, dir, "commit", "-qm", "sub")
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := make(t)
			main, err := worktree.Main(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := worktree.Open(t.Context(), from, filepath.Join(main, ".ferrus", "git"), worktree.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(main, ".ferrus/worktrees/x")
			if err := tree.Add(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			second := open(t, at)
			if got, on, err := second.Head(t.Context()); got != head(t, main) || on != "ferrus/x" || err != nil {
				t.Errorf("Head: %s on %q, %v", got, on, err)
			}
			if _, err := os.Lstat(filepath.Join(at, "src/b.go")); err != nil {
				t.Error(err)
			}
			if got, want := fingerprint(t, second), strings.TrimSpace(runGit(t, main, "rev-parse", "HEAD^{tree}")); got != want && name != "a submodule" {
				t.Errorf("the work tree has %s, want %s: %q", got, want, paths(t, second, want, got))
			}
			if err := tree.Remove(t.Context(), at, "x"); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(at); err == nil {
				t.Error("it is still there")
			}
		})
	}
}

func TestWhatAddRefuses(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree, at := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x")
	runGit(t, dir, "branch", "ferrus/taken")
	write(t, dir, ".ferrus/worktrees/full/x", "x")
	if err := tree.Add(t.Context(), at, "x"); err != nil {
		t.Fatal(err)
	}
	before, repository := inventory(t, filepath.Join(dir, ".ferrus/worktrees")), users(t, dir)
	for _, c := range []struct{ dir, branch, want string }{
		{at, "x", "there is such a branch"},
		{at, "y", "the folder exists"},
		{filepath.Join(dir, ".ferrus/worktrees/full"), "y", "the folder exists"},
		{filepath.Join(dir, ".ferrus/worktrees/y"), "taken", "there is such a branch"},
		{filepath.Join(dir, ".ferrus/worktrees/y"), "taken/deeper", "rename that one"},
		{filepath.Join(dir, ".ferrus/worktrees/y"), "a..b", "two dots"},
		{filepath.Join(dir, "a.txt"), "y", "the folder exists"},
	} {
		if err := tree.Add(t.Context(), c.dir, c.branch); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Add(%s, %s): %v; want %q", c.dir, c.branch, err, c.want)
		}
	}
	if diff := cmp.Diff(before, inventory(t, filepath.Join(dir, ".ferrus/worktrees"))); diff != "" {
		t.Errorf("work trees:\n%s", diff)
	}
	if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
		t.Errorf("the user's repository:\n%s", diff)
	}
}

func TestWithoutACommitNothingIsAdded(t *testing.T) {
	t.Parallel()
	dir := emptyRepo(t)
	at := filepath.Join(dir, ".ferrus/worktrees/x")
	if err := open(t, dir).Add(t.Context(), at, "x"); !errors.Is(err, repository.ErrNoCommit) {
		t.Errorf("err = %v", err)
	}
	gone(t, dir, at)
}

func TestWhatRemoveRefuses(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree, trees := open(t, dir), filepath.Join(dir, ".ferrus/worktrees")
	for _, name := range []string{"x", "locked", "out"} {
		if err := tree.Add(t.Context(), filepath.Join(trees, name), name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, trees, "full/x", "x")
	runGit(t, dir, "worktree", "lock", "--reason", "on a stick", filepath.Join(trees, "locked"))
	runGit(t, filepath.Join(trees, "x"), "checkout", "-q", "--detach")
	runGit(t, filepath.Join(trees, "out"), "checkout", "-q", "--detach")
	runGit(t, filepath.Join(trees, "x"), "checkout", "-q", "ferrus/out")
	runGit(t, dir, "checkout", "-q", "-b", "ferrus/here")
	before, repository := inventory(t, trees), users(t, dir)
	for _, c := range []struct{ dir, branch, want string }{
		{"full", "x", "not a linked work tree"},
		{"locked", "locked", "on a stick"},
		{"out", "out", "checked out in " + filepath.Join(trees, "x")},
		{"none", "here", "checked out in the main work tree"},
		{"../..", "y", "not a linked work tree"},
		{"../../src", "y", "not a linked work tree"},
	} {
		if err := tree.Remove(t.Context(), filepath.Join(trees, c.dir), c.branch); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Remove(%s, %s): %v; want %q", c.dir, c.branch, err, c.want)
		}
	}
	if diff := cmp.Diff(before, inventory(t, trees)); diff != "" {
		t.Errorf("work trees:\n%s", diff)
	}
	if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
		t.Errorf("the user's repository:\n%s", diff)
	}
}

// Half of it may be gone by another's hand.
func TestRemoveFinishesWhatIsHalfGone(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]func(t *testing.T, dir, at string){
		"the folder":        func(t *testing.T, dir, at string) { remove(t, at, "") },
		"the files":         func(t *testing.T, dir, at string) { remove(t, at, ""); mkdir(t, at, "") },
		"folder and admin":  func(t *testing.T, dir, at string) { remove(t, at, ""); runGit(t, dir, "worktree", "prune") },
		"the work tree":     func(t *testing.T, dir, at string) { runGit(t, dir, "worktree", "remove", "-f", at) },
		"the branch":        func(t *testing.T, dir, at string) { runGit(t, dir, "update-ref", "-d", "refs/heads/ferrus/x") },
		"nothing":           func(t *testing.T, dir, at string) {},
		"moved by the user": func(t *testing.T, dir, at string) { runGit(t, at, "checkout", "-q", "-b", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			tree, at := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x")
			if err := tree.Add(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			half(t, dir, at)
			if err := tree.Remove(t.Context(), at, "x"); err != nil {
				t.Error(err)
			}
			gone(t, dir, at)
			if err := tree.Add(t.Context(), at, "x"); err != nil {
				t.Error(err)
			}
			linked(t, dir, at, "x", head(t, dir))
		})
	}
}

func TestAKilledAddIsFinishedOrCleared(t *testing.T) {
	deaths(t, func(t *testing.T, d death) bool {
		dir := committed(t)
		at := filepath.Join(dir, ".ferrus/worktrees/x")
		died := die(t, d, dir, "add", at, "x")
		want := head(t, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git/refs/heads/ferrus/x")); err != nil {
			runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "meanwhile")
			want = head(t, dir)
		}
		tree := open(t, dir)
		if err := tree.Add(t.Context(), at, "x"); died && err != nil {
			t.Errorf("again: %v", err)
		} else if !died && err == nil {
			t.Error("added twice")
		}
		linked(t, dir, at, "x", want)
		if err := tree.Remove(t.Context(), at, "x"); err != nil {
			t.Error(err)
		}
		gone(t, dir, at)
		return died
	})
}

func TestAKilledAddIsRemoved(t *testing.T) {
	deaths(t, func(t *testing.T, d death) bool {
		if d.Call == "during" {
			return false // git may begin again after it
		}
		dir := committed(t)
		at := filepath.Join(dir, ".ferrus/worktrees/x")
		died := die(t, d, dir, "add", at, "x")
		if err := open(t, dir).Remove(t.Context(), at, "x"); err != nil {
			t.Error(err)
		}
		gone(t, dir, at)
		return died
	})
}

func TestAKilledRemoveIsFinished(t *testing.T) {
	deaths(t, func(t *testing.T, d death) bool {
		dir := committed(t)
		tree, at := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x")
		if err := tree.Add(t.Context(), at, "x"); err != nil {
			t.Fatal(err)
		}
		died := die(t, d, dir, "remove", at, "x")
		if err := tree.Remove(t.Context(), at, "x"); err != nil {
			t.Error(err)
		}
		gone(t, dir, at)
		return died
	})
}

// Git's own making of a work tree is killed in the middle of its files.
func TestAGitKilledInTheMiddleOfAnAdd(t *testing.T) {
	dir := committed(t)
	write(t, dir, "filtered", "x")
	write(t, dir, ".gitattributes", "filtered filter=die\n")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "two")
	wrap(t, "")
	runGit(t, dir, "config", "filter.die.smudge", "kill -9 $PPID; cat")
	tree, at := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x")
	if err := tree.Add(t.Context(), at, "x"); err == nil {
		t.Fatal("git was not killed")
	}
	runGit(t, dir, "config", "--unset", "filter.die.smudge")
	mkdir(t, at+".new-1", "") // of another that was killed before its git had begun
	if err := tree.Add(t.Context(), at, "x"); err != nil {
		t.Error(err)
	}
	linked(t, dir, at, "x", head(t, dir))
}

// A git goes on for a while when its ferrus is killed, and clears up behind itself when it fails: all that it knows by
// name. That must be nothing that the next Add has made.
func TestAGitThatOutlivesItsAdd(t *testing.T) {
	dir := committed(t)
	write(t, dir, "filtered", "x")
	write(t, dir, ".gitattributes", "filtered filter=wait\n")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "two")
	signs := t.TempDir()
	path := os.Getenv("PATH")
	wrap(t, `case " $* " in *" worktree add "*) [ -e '`+signs+`/pid' ] || echo $$ >'`+signs+`/pid';; esac`)
	runGit(t, dir, "config", "filter.wait.smudge", "if mkdir '"+signs+"/first' 2>&-; then until [ -e '"+signs+"/go' ]; do sleep 0.01; done; kill $(cat '"+signs+"/pid'); fi; cat")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, ".ferrus/worktrees/x")
	child := exec.Command(self, dir, "add", at, "x")
	child.Env = append(os.Environ(), worktreetest.Victim+"=0")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, "the process has ended", func() bool { _, err := os.Lstat(filepath.Join(signs, "first")); return err == nil })
	_ = child.Process.Kill()
	_ = child.Wait()
	text, err := os.ReadFile(filepath.Join(signs, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Add(t.Context(), at, "x"); err != nil {
		t.Error(err)
	}
	write(t, signs, "go", "")
	kit.Eventually(t, "the process has ended", func() bool { return !proc.Alive(pid) })
	os.Setenv("PATH", path)
	linked(t, dir, at, "x", head(t, dir))
}

func TestHead(t *testing.T) {
	t.Parallel()
	dir := emptyRepo(t)
	tree := open(t, dir)
	check := func(commit, branch string) {
		t.Helper()
		if c, b, err := tree.Head(t.Context()); c != commit || b != branch || err != nil {
			t.Errorf("Head: %q on %q, %v; want %q on %q", c, b, err, commit, branch)
		}
	}
	check("", "main")
	runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	check(head(t, dir), "main")
	runGit(t, dir, "checkout", "-q", "-b", "deep/er")
	check(head(t, dir), "deep/er")
	runGit(t, dir, "checkout", "-q", "--detach")
	check(head(t, dir), "")
}
