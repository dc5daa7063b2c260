package worktree_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

func TestAPlainFolderIsATree(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	plain(t, dir)
}

func TestAMachineWithoutGitHasTrees(t *testing.T) {
	dir := committed(t)
	t.Setenv("PATH", t.TempDir())
	plain(t, dir)
}

func plain(t *testing.T, dir string) {
	t.Helper()
	tree := open(t, dir)
	if tree.Git() || tree.Top() != dir || fingerprint(t, tree) != "" {
		t.Errorf("Git %v, Top %q, fingerprint %q", tree.Git(), tree.Top(), fingerprint(t, tree))
	}
	if id, err := tree.Snapshot(t.Context()); id != "" || err != nil {
		t.Errorf("Snapshot: %q, %v", id, err)
	}
	if paths, err := tree.Changed(t.Context(), "", ""); paths != nil || err != nil {
		t.Errorf("Changed: %q, %v", paths, err)
	}
	if text, err := tree.Diffstat(t.Context(), "", ""); !strings.Contains(text, "no git") || err != nil {
		t.Errorf("Diffstat: %q, %v", text, err)
	}
	var patch strings.Builder
	if err := tree.Patch(t.Context(), "", "", &patch); !strings.Contains(patch.String(), "no git") || err != nil {
		t.Errorf("Patch: %q, %v", patch.String(), err)
	}
	for name, ask := range map[string]func(context.Context, string) (string, error){"CommonDir": worktree.CommonDir, "Main": worktree.Main} {
		if path, err := ask(t.Context(), dir); path != "" || err != nil {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".ferrus", "git")); err == nil {
		t.Error("the private folder was made for nothing")
	}
}

func TestARepositoryWithoutACommitWorks(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	tree := open(t, dir)
	empty := fingerprint(t, tree)
	if paths, err := tree.Changed(t.Context(), "", empty); len(paths) != 0 || err != nil {
		t.Errorf("an empty tree: %q, %v", paths, err)
	}
	write(t, dir, "a", "a")
	if paths, err := tree.Changed(t.Context(), "", fingerprint(t, tree)); len(paths) != 1 || err != nil {
		t.Errorf("one file: %q, %v", paths, err)
	}
}

func TestFromASubfolderTheWholeTreeCounts(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	whole := fresh(t, dir)
	tree := open(t, filepath.Join(dir, "src"))
	if tree.Top() != dir || fingerprint(t, tree) != whole {
		t.Errorf("Top %q, want %q; %s, want %s", tree.Top(), dir, fingerprint(t, tree), whole)
	}
}

func TestAPrivateFolderElsewhereInTheTreeDoesNotCount(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(dir, "odd [1]"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first, want := fingerprint(t, tree), fresh(t, dir, "odd*"); first != want || fingerprint(t, tree) != want {
		t.Errorf("got %s, then %s, want %s", first, fingerprint(t, tree), want)
	}
}

func TestLinkedWorktrees(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	linked := filepath.Join(dir, ".ferrus", "worktrees", "x")
	main := fingerprint(t, open(t, dir))
	runGit(t, dir, "worktree", "add", "-q", "-b", "x", linked)
	write(t, linked, "src/b.go", "package changed\n")
	if got := fingerprint(t, open(t, dir)); got != main {
		t.Error("a linked work tree below .ferrus counts")
	}
	// Both work trees share the private folder.
	tree, err := worktree.Open(t.Context(), filepath.Join(linked, "src"), filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if paths, err := tree.Changed(t.Context(), main, fingerprint(t, tree)); len(paths) != 1 || paths[0] != "src/b.go" || err != nil {
		t.Errorf("changed: %q, %v", paths, err)
	}
	for _, from := range []string{dir, filepath.Join(dir, "src"), linked, filepath.Join(linked, "src")} {
		if got, err := worktree.Main(t.Context(), from); got != dir || err != nil {
			t.Errorf("Main(%s) = %q, %v; want %q", from, got, err, dir)
		}
		if got, err := worktree.CommonDir(t.Context(), from); got != filepath.Join(dir, ".git") || err != nil {
			t.Errorf("CommonDir(%s) = %q, %v", from, got, err)
		}
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	runGit(t, dir, "clone", "-q", "--bare", dir, bare)
	alone := filepath.Join(t.TempDir(), "alone")
	runGit(t, bare, "worktree", "add", "-q", alone, "main")
	if got, err := worktree.Main(t.Context(), alone); filepath.Base(got) != "alone" || err != nil {
		t.Errorf("Main beside a bare repository = %q, %v", got, err)
	}
}

func TestTheEnvironmentOfAHookChangesNothing(t *testing.T) {
	dir, other := committed(t), t.TempDir()
	write(t, dir, "new", "new")
	want := fresh(t, dir)
	runGit(t, other, "init", "-q")
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(other, ".git"), "GIT_WORK_TREE": other, "GIT_PREFIX": "src/",
		"GIT_INDEX_FILE": filepath.Join(other, "index"), "GIT_OBJECT_DIRECTORY": filepath.Join(other, ".git/objects"),
		"GIT_COMMON_DIR": filepath.Join(other, ".git"), "GIT_LITERAL_PATHSPECS": "1", "GIT_TRACE": "1",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": other,
	} {
		t.Setenv(name, value)
	}
	tree := open(t, dir)
	if tree.Top() != dir || fingerprint(t, tree) != want {
		t.Errorf("Top %q, fingerprint %s, want %s", tree.Top(), fingerprint(t, tree), want)
	}
	if got, err := worktree.CommonDir(t.Context(), dir); got != filepath.Join(dir, ".git") || err != nil {
		t.Errorf("CommonDir = %q, %v", got, err)
	}
}

func TestAnotherOwnersRepositoryIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	if os.Getuid() != 0 || os.Chown(dir, 65534, 65534) != nil || os.Chown(filepath.Join(dir, ".git"), 65534, 65534) != nil {
		t.Skip("only root can give a folder away")
	}
	_, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus"), worktree.Options{})
	if err == nil || !strings.Contains(err.Error(), "dubious ownership") || !strings.Contains(err.Error(), "git config --global --add safe.directory "+dir) {
		t.Errorf("err = %v", err)
	}
}

func TestABorrowedObjectStoreIsRead(t *testing.T) {
	t.Parallel()
	far := committed(t)
	near := filepath.Join(t.TempDir(), `a "near": one`)
	if runtime.GOOS == "windows" {
		near = filepath.Join(t.TempDir(), "near")
	}
	runGit(t, far, "clone", "-q", "--shared", far, near)
	relative, err := filepath.Rel(filepath.Join(near, ".git", "objects"), filepath.Join(far, ".git", "objects"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, near, ".git/objects/info/alternates", filepath.ToSlash(relative)+"\n")
	runGit(t, near, "commit", "-qm", "near", "--allow-empty")
	write(t, near, "a.txt", "near\n")
	tree := open(t, near)
	head := strings.TrimSpace(runGit(t, near, "rev-parse", "HEAD"))
	if paths, err := tree.Changed(t.Context(), head, fingerprint(t, tree)); len(paths) != 1 || err != nil {
		t.Errorf("changed: %q, %v", paths, err)
	}
}

func TestASparseCheckoutHasNoDeletions(t *testing.T) {
	t.Parallel()
	for _, cone := range []string{"--sparse-index", "--no-cone"} {
		dir := committed(t)
		runGit(t, dir, "checkout", "-q", "-b", "side")
		write(t, dir, "src/b.go", "package side\n")
		runGit(t, dir, "commit", "-qam", "side")
		runGit(t, dir, "checkout", "-q", "main")
		write(t, dir, "lib/c", "c")
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-qm", "two")
		tree := open(t, dir)
		full := fingerprint(t, tree)
		runGit(t, dir, "sparse-checkout", "set", cone, "lib")
		if got := fingerprint(t, tree); got != full {
			paths, _ := tree.Changed(t.Context(), full, got)
			t.Errorf("%s: changed: %q", cone, paths)
		}
		runGit(t, dir, "checkout", "-q", "side")
		if got, want := fingerprint(t, tree), fresh(t, dir); got != want || got == full {
			t.Errorf("%s: another commit: got %s, want %s", cone, got, want)
		}
		runGit(t, dir, "checkout", "-q", "main")
		write(t, dir, "src/b.go", "hidden")
		if got := fingerprint(t, tree); got == full {
			t.Errorf("%s: a file outside the sparse checkout is not seen", cone)
		}
		remove(t, dir, "src")
		runGit(t, dir, "sparse-checkout", "disable")
		runGit(t, dir, "checkout", "-q", ".")
		if got := fingerprint(t, tree); got != full {
			t.Errorf("%s: disabled: not the same tree", cone)
		}
	}
}

func TestAConflictIsFingerprinted(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	runGit(t, dir, "checkout", "-q", "-b", "side")
	write(t, dir, "a.txt", "side\n")
	runGit(t, dir, "commit", "-qam", "side")
	runGit(t, dir, "checkout", "-q", "main")
	runGit(t, dir, "rm", "-q", "a.txt")
	write(t, dir, "src/b.go", "package c\n")
	runGit(t, dir, "commit", "-qam", "main")
	tree := open(t, dir)
	// What counts is the work tree in the middle of the merge, with and without the file at issue.
	if runtime.GOOS != "windows" {
		runGit(t, dir, "-c", "alias.try=!git merge -q side || true", "try")
	}
	for _, name := range []string{"", "a.txt"} {
		if name != "" {
			remove(t, dir, name)
		}
		if got, want := fingerprint(t, tree), fresh(t, dir); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
