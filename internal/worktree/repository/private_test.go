//go:build unix

package repository_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// old makes files and folders of names that the sweep looks for, older than any of its ages.
func old(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"draft-1", "index-1", "restore-1/f", "tmp_objdir-1/f", "objects/tmp_objdir-1/f"} {
		write(t, dir, name, "theirs")
	}
	then := time.Now().Add(-365 * 24 * time.Hour)
	for _, name := range []string{"draft-1", "index-1", "restore-1", "tmp_objdir-1", "objects/tmp_objdir-1"} {
		if err := os.Chtimes(filepath.Join(dir, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingBehindALinkIsSwept: a clone may bring links in place of ferrus's own folders, which lead to folders with
// names like those of its temporary files.
func TestNothingBehindALinkIsSwept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ link, at string }{
		{".ferrus/git", ".ferrus/git"},
		{".ferrus/git/objects", ".ferrus/git/objects"},
		{".ferrus/git/objects/ab", ".ferrus/git/objects/ab"},
		{".ferrus/git/objects/pack", ".ferrus/git/objects/pack"},
		{".ferrus/git/index-0", ".ferrus/git/index-0"},
		{".ferrus", ".ferrus"},
	} {
		t.Run(c.link, func(t *testing.T) {
			dir, outside := committed(t), t.TempDir()
			old(t, outside)
			old(t, filepath.Join(outside, "git"))
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(c.link)), 0o700); err != nil {
				t.Fatal(err)
			}
			remove(t, dir, c.link)
			if err := os.Symlink(outside, filepath.Join(dir, c.link)); err != nil {
				t.Fatal(err)
			}
			before, tree := inventory(t, outside), open(t, dir)
			tip := head(t, dir)
			for name, do := range map[string]func() error{
				"Fingerprint": func() error { _, err := tree.Fingerprint(t.Context()); return err },
				"Snapshot":    func() error { _, err := tree.Snapshot(t.Context()); return err },
				"Keep": func() error {
					return tree.SaveRef(t.Context(), "t/1", strings.TrimSpace(runGit(t, dir, "rev-parse", tip+"^{tree}")))
				},
				"Add":    func() error { return tree.Add(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x") },
				"Remove": func() error { return tree.Remove(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x") },
			} {
				if err := do(); !errors.Is(err, rootfs.ErrLink) || !strings.Contains(err.Error(), filepath.Join(dir, c.at)+" is a symbolic link") {
					t.Errorf("%s: %v", name, err)
				}
			}
			if diff := cmp.Diff(before, inventory(t, outside)); diff != "" {
				t.Errorf("outside: %s", diff)
			}
		})
	}
}

// TestNoWorkTreeIsMadeOrRemovedBehindALink: neither in place of a branch's work tree nor of the folder of all of them.
func TestNoWorkTreeIsMadeOrRemovedBehindALink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".ferrus/worktrees", ".ferrus/worktrees/x"} {
		dir, outside := committed(t), t.TempDir()
		tree := open(t, dir)
		victim := filepath.Join(outside, "x")
		runGit(t, dir, "worktree", "add", "-q", "--detach", victim)
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(link)), 0o700); err != nil {
			t.Fatal(err)
		}
		target := outside
		if strings.HasSuffix(link, "x") {
			target = victim
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		before := inventory(t, outside)
		for _, err := range []error{
			tree.Add(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"),
			tree.Remove(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"),
		} {
			if !errors.Is(err, rootfs.ErrLink) || !strings.Contains(err.Error(), filepath.Join(dir, link)+" is a symbolic link") {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(before, inventory(t, outside)); diff != "" {
			t.Errorf("%s: %s", link, diff)
		}
	}
}

// TestAForgedUnfinishedWorkTreeIsNotRemoved: the repository's note about a work tree of the user's says that ferrus was
// making it, which anybody who can write in the repository can write.
func TestAForgedUnfinishedWorkTreeIsNotRemoved(t *testing.T) {
	t.Parallel()
	dir, outside := committed(t), t.TempDir()
	victim := filepath.Join(outside, "victim")
	runGit(t, dir, "worktree", "add", "-q", "--detach", victim)
	write(t, victim, "only.txt", "there is no other copy")
	write(t, dir, ".git/worktrees/victim/locked", "ferrus is making x\n")
	before, tree := inventory(t, outside), open(t, dir)
	for _, err := range []error{
		tree.Add(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"),
		tree.Remove(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(before, inventory(t, outside)); diff != "" {
		t.Errorf("the user's work tree: %s", diff)
	}
}

// TestAPipeAmongThePrivateFilesIsNotWaitedFor, nor among git's notes about work trees.
func TestAPipeAmongThePrivateFilesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	fingerprint(t, tree)
	write(t, dir, ".git/worktrees/y/HEAD", "x")
	for _, name := range []string{".git/worktrees/y/gitdir", ".git/worktrees/y/locked", ".ferrus/git/index-2"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if _, err := tree.Fingerprint(t.Context()); !errors.Is(err, rootfs.ErrNotRegular) {
		t.Error(err)
	}
	remove(t, dir, ".ferrus/git/index-2")
	if err := tree.Remove(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"); err != nil {
		t.Error(err)
	}
}

// TestLargeRulesAreReadAgain: each file of rules may have as much as is read of one, and the frozen ones are in one file.
func TestLargeRulesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	for _, name := range []string{"exclude", "attributes"} {
		write(t, dir, ".git/info/"+name, strings.Repeat("# <<<<<<<<<<<<<<<<<<<<<<<<<<<<\n", repository.MaxRules/64))
	}
	want := fingerprint(t, open(t, dir))
	if got := fingerprint(t, open(t, dir)); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestFerrusThatWasTakenAwayStaysAway: a server that still works on it does not make it anew.
func TestFerrusThatWasTakenAwayStaysAway(t *testing.T) {
	t.Parallel()
	for name, used := range map[string]bool{"before the first use": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			tree := open(t, dir)
			if used {
				fingerprint(t, tree)
			}
			remove(t, dir, ".ferrus")
			for name, do := range map[string]func(context.Context) (string, error){"Fingerprint": tree.Fingerprint, "Snapshot": tree.Snapshot} {
				if id, err := do(t.Context()); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %q, %v", name, id, err)
				}
			}
			if _, err := os.Lstat(filepath.Join(dir, ".ferrus")); err == nil {
				t.Error("it is made anew")
			}
		})
	}
}
