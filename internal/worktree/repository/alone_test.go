package repository_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// Git fails now and then when several of it make work trees of one repository: about one in thirty, four at a time.
func TestManyWorkTreesAreAddedAtOnce(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	trees := filepath.Join(dir, ".ferrus/worktrees")
	for round := range most(1, 10) {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				cmd := exec.Command(self, dir, "add", fmt.Sprintf("%s/p%d", trees, i), fmt.Sprintf("p%d", i))
				cmd.Env = append(os.Environ(), worktreetest.Victim+"=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("process %d: %v\n%s", i, err, out)
				}
			})
			wg.Go(func() {
				name := fmt.Sprintf("g%d", i)
				if err := open(t, dir).Add(t.Context(), filepath.Join(trees, name), name); err != nil {
					t.Errorf("goroutine %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		list := runGit(t, dir, "worktree", "list", "--porcelain")
		if strings.Count(list, "worktree ") != 9 || strings.Contains(list, "locked") || strings.Contains(list, "prunable") {
			t.Errorf("round %d, git worktree list:\n%s", round, list)
		}
		for i := range 4 {
			for _, kind := range []string{"p", "g"} {
				name := fmt.Sprintf("%s%d", kind, i)
				if said := runGit(t, filepath.Join(trees, name), "status", "--porcelain", "-b"); strings.TrimSpace(said) != "## ferrus/"+name {
					t.Errorf("%s: git status: %s", name, said)
				}
				wg.Go(func() {
					if err := open(t, dir).Remove(t.Context(), filepath.Join(trees, name), name); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		gone(t, dir, filepath.Join(trees, "x"))
	}
}

// A call that gives up has done nothing.
func TestOneWorkTreeAtATime(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree, other, trees := open(t, dir), open(t, dir), filepath.Join(dir, ".ferrus/worktrees")
	if err := tree.Add(t.Context(), filepath.Join(trees, "there"), "there"); err != nil {
		t.Fatal(err)
	}
	fingerprint(t, other)
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	asked := 0
	tree.OnChange(func() {
		asked++
		for verb, err := range map[string]error{
			"Add":    other.Add(gaveUp, filepath.Join(trees, "y"), "y"),
			"Remove": other.Remove(gaveUp, filepath.Join(trees, "there"), "there"),
		} {
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for another") {
				t.Errorf("%s does not wait: %v", verb, err)
			}
		}
		if err := other.Add(t.Context(), filepath.Join(trees, "x"), "x"); err == nil || !strings.Contains(err.Error(), "another process is at it") {
			t.Errorf("the same branch: %v", err)
		}
	})
	if err := tree.Add(t.Context(), filepath.Join(trees, "x"), "x"); err != nil {
		t.Error(err)
	}
	if err := tree.Remove(t.Context(), filepath.Join(trees, "x"), "x"); err != nil || asked == 0 {
		t.Errorf("%v; asked %d times", err, asked)
	}
	tree.OnChange(nil)
	if err := tree.Remove(t.Context(), filepath.Join(trees, "there"), "there"); err != nil {
		t.Error(err)
	}
	gone(t, dir, filepath.Join(trees, "x"))
}

func TestMainIsFoundWhileAWorkTreeIsMade(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	linked := filepath.Join(t.TempDir(), "linked")
	runGit(t, dir, "worktree", "add", "-q", "--detach", linked)
	write(t, dir, ".git/worktrees/half/gitdir", linked+"2/.git\n")
	write(t, dir, ".git/worktrees/half/commondir", "") // as git makes it, before it writes to it
	if out, err := exec.Command("git", "-C", linked, "worktree", "list").CombinedOutput(); err == nil {
		t.Logf("this git does not mind: %s", out)
	}
	if got, err := worktree.Main(t.Context(), linked); got != dir || err != nil {
		t.Errorf("Main = %q, %v; want %q", got, err, dir)
	}
}
