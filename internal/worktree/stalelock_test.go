package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// TestALockThatNobodyHoldsIsFound, and no other: neither a young one nor one of the person's own refs.
func TestALockThatNobodyHoldsIsFound(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "we[i]rd")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	common, err := CommonDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	lay := func(name string, age time.Duration) string {
		path := filepath.Join(common, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := []string{lay("refs/ferrus/t/1.lock", time.Hour), lay("refs/ferrus/archive/b.lock", time.Hour), lay("refs/heads/ferrus/b.lock", time.Hour),
		lay("packed-refs.lock", time.Hour), lay("worktrees/b/HEAD.lock", time.Hour)}
	lay("refs/ferrus/t/2.lock", time.Second)
	lay("refs/heads/main.lock", time.Hour)
	lay("index.lock", time.Hour)
	lay("worktrees/mine/HEAD.lock", time.Hour)
	for admin, of := range map[string]string{"b": filepath.Join(dir, ".ferrus/worktrees/b/.git"), "mine": filepath.Join(dir, "../mine/.git")} {
		if err := os.WriteFile(filepath.Join(common, "worktrees", admin, "gitdir"), []byte(of+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := StaleLocks(t.Context(), dir, now)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("stale are %q, not %q: %v", got, want, err)
	}
	aside := t.TempDir()
	for _, lock := range got {
		to, err := SetAside(lock, aside, now)
		if err != nil || filestat.Exists(lock) || !filestat.Exists(to) {
			t.Errorf("%s: %q, %v", lock, to, err)
		}
		if to, err := SetAside(lock, aside, now); to != "" || err != nil {
			t.Errorf("again: %q, %v", to, err)
		}
	}
	if got, err := StaleLocks(t.Context(), dir, now); len(got) > 0 || err != nil {
		t.Errorf("still %q: %v", got, err)
	}
	said := git.Explain("update-ref", "fatal: Unable to create '/p/.git/refs/ferrus/x.lock': File exists.", nil).Error()
	if !strings.Contains(said, "ferrus doctor --fix") {
		t.Error(said)
	}
}
