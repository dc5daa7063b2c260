package worktree_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// A trap is something that an executor writes into the repository or its work tree so that git runs a program.
type trap struct {
	name string
	set  func(t *testing.T, dir, at, run string) // dir is the project, at its linked work tree, run a command
	show []string                                // a call of the user's git in at that falls into it; nil where only ferrus's calls could
}

var traps = []trap{
	{"a .git file that names another repository", func(t *testing.T, dir, at, run string) {
		evil := filepath.Join(t.TempDir(), "evil")
		runGit(t, dir, "clone", "-q", dir, evil)
		armed(t, filepath.Join(evil, ".git", "config"), run)
		remove(t, at, ".git")
		write(t, at, ".git", "gitdir: "+filepath.Join(evil, ".git")+"\n")
		write(t, at, ".gitattributes", "* filter=evil diff=evil\n")
	}, []string{"status"}},
	{"a repository in place of the .git file", func(t *testing.T, dir, at, run string) {
		remove(t, at, ".git")
		runGit(t, at, "init", "-q")
		armed(t, filepath.Join(at, ".git", "config"), run)
		write(t, at, ".gitattributes", "* filter=evil diff=evil\n")
	}, []string{"add", "."}},
	{"commondir of the work tree's folder", func(t *testing.T, dir, at, run string) {
		evil := filepath.Join(t.TempDir(), "evil")
		runGit(t, dir, "clone", "-q", dir, evil)
		armed(t, filepath.Join(evil, ".git", "config"), run)
		write(t, dir, ".git/worktrees/"+filepath.Base(strings.TrimSpace(runGit(t, at, "rev-parse", "--git-dir")))+"/commondir", filepath.Join(evil, ".git")+"\n")
		write(t, at, ".gitattributes", "* filter=evil diff=evil\n")
	}, []string{"status"}},
	{"filters and the rest in .git/config", func(t *testing.T, dir, at, run string) {
		armed(t, filepath.Join(dir, ".git", "config"), run)
		write(t, at, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
		write(t, at, "a.txt", "x")
	}, []string{"status"}},
	{"a configuration of the work tree", func(t *testing.T, dir, at, run string) {
		runGit(t, at, "config", "extensions.worktreeConfig", "true")
		runGit(t, at, "config", "--worktree", "filter.evil.clean", run)
		write(t, at, ".gitattributes", "* filter=evil\n")
		write(t, at, "a.txt", "x")
	}, []string{"status"}},
	{"info/attributes", func(t *testing.T, dir, at, run string) {
		armed(t, filepath.Join(dir, ".git", "config"), run)
		write(t, dir, ".git/info/attributes", "* filter=evil diff=evil merge=evil\n")
		write(t, at, "a.txt", "x")
	}, []string{"status"}},
	{"fsmonitor and hooks", func(t *testing.T, dir, at, run string) {
		runGit(t, dir, "config", "core.fsmonitor", run)
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"} {
			write(t, dir, ".git/hooks/"+hook, "#!/bin/sh\n"+run+"\n")
			if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}, []string{"status"}},
	{"a promisor that fetches what is missing", func(t *testing.T, dir, at, run string) {
		runGit(t, dir, "config", "core.repositoryFormatVersion", "1")
		runGit(t, dir, "config", "extensions.partialClone", "origin")
		runGit(t, dir, "config", "remote.origin.url", "file:///nowhere")
		runGit(t, dir, "config", "remote.origin.promisor", "true")
		runGit(t, dir, "config", "remote.origin.uploadpack", run)
		out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD:a.txt").Output()
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSpace(string(out))
		if err := os.Remove(filepath.Join(dir, ".git/objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
		write(t, at, "a.txt", "x")
	}, []string{"diff"}},
}

// armed adds settings by which git runs a command.
func armed(t *testing.T, config, run string) {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	more := fmt.Sprintf("[filter \"evil\"]\n\tclean = %[1]q\n\tsmudge = %[1]q\n[diff]\n\texternal = %[1]q\n[diff \"evil\"]\n\ttextconv = %[1]q\n\tcommand = %[1]q\n"+
		"[merge \"evil\"]\n\tdriver = %[1]q\n[core]\n\tfsmonitor = %[1]q\n\tpager = %[1]q\n\teditor = %[1]q\n\tsshCommand = %[1]q\n\talternateRefsCommand = %[1]q\n[gpg]\n\tprogram = %[1]q\n", run)
	if err := os.WriteFile(config, append(text, more...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Nothing that an executor writes makes one of our calls run a program.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	bad := 0
	for _, trap := range traps {
		t.Run(trap.name, func(t *testing.T) {
			dir := committed(t)
			at := filepath.Join(dir, ".ferrus/worktrees/x")
			if err := open(t, dir).Add(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			private := filepath.Join(dir, ".ferrus/branches/x/git")
			tree, err := worktree.Open(t.Context(), at, private, worktree.Options{Root: dir})
			if err != nil {
				t.Fatal(err)
			}
			base := fingerprint(t, tree)
			write(t, at, "b.txt", "theirs")
			theirs := save(t, tree, "t/1")
			canary := filepath.Join(t.TempDir(), "canary")
			trap.set(t, dir, at, "touch "+canary+"; cat")
			if trap.show != nil {
				cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, trap.show...)...)
				cmd.Dir = at
				out, _ := cmd.CombinedOutput()
				if !exists(canary) {
					t.Fatalf("the trap does not work: git %v: %s", trap.show, out)
				}
				if err := os.Remove(canary); err != nil {
					t.Fatal(err)
				}
			}
			again, err := worktree.Open(t.Context(), at, private, worktree.Options{Root: dir})
			if err != nil {
				t.Fatal(err)
			}
			for _, tree := range []*worktree.Tree{tree, again} {
				// Some of these must fail, for the repository lacks objects; none may run anything.
				now, err := tree.Snapshot(t.Context())
				if err != nil {
					t.Errorf("snapshot: %v", err)
				}
				for _, from := range []string{base, theirs} {
					tree.Changed(t.Context(), from, now)
					tree.Diffstat(t.Context(), from, now)
					tree.Size(t.Context(), from, now)
					tree.Patch(t.Context(), from, now, io.Discard)
					restore.In(tree).Blocked(t.Context(), now, from)
				}
				tree.Merge(t.Context(), base, now, theirs)
				tree.Head(t.Context())
				tree.Save(t.Context(), "t/2")
				tree.ReadRef(t.Context(), "t/2")
				restore.In(tree).Restore(t.Context(), now, theirs, "t/edits")
				tree.KeepHead(t.Context(), "x", "lost/x")
				if exists(canary) {
					bad++
					t.Error("a program of the executor's ran")
				}
			}
		})
	}
	t.Logf("rig: cases=%d bad=%d", len(traps), bad)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Git lays out a new work tree by the repository's configuration: a filter that has come to it since is left out.
func TestANewWorkTreeRunsNoNewFilter(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := committed(t)
	write(t, dir, ".gitattributes", "a.txt filter=evil\n")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "two")
	tree := open(t, dir)
	fingerprint(t, tree)
	canary := filepath.Join(t.TempDir(), "canary")
	armed(t, filepath.Join(dir, ".git", "config"), "touch "+canary+"; cat")
	runGit(t, dir, "config", "filter.evil.required", "true")
	write(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\ntouch "+canary+"\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := tree.Add(t.Context(), filepath.Join(dir, ".ferrus/worktrees/x"), "x"); err != nil {
		t.Fatal(err)
	}
	if exists(canary) {
		t.Error("a program of the executor's ran")
	}
}

// A work tree is found by what the repository lists: what lies at its place does not matter, and what is not listed is
// no work tree of the repository, though it lies in one.
func TestALinkedWorkTreeIsFoundFromTheMainSide(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	at := filepath.Join(dir, ".ferrus/worktrees/x")
	if err := open(t, dir).Add(t.Context(), at, "x"); err != nil {
		t.Fatal(err)
	}
	there := func() (*worktree.Tree, error) {
		return worktree.Open(t.Context(), filepath.Join(at, "src"), filepath.Join(dir, ".ferrus/git"), worktree.Options{Root: dir})
	}
	tree, err := there()
	if err != nil || tree.Top() != at {
		t.Fatalf("Top %q, %v; want %q", tree.Top(), err, at)
	}
	want := fingerprint(t, tree)
	remove(t, at, ".git")
	if tree, err = there(); err != nil || tree.Top() != at || fingerprint(t, tree) != want {
		t.Errorf("without its .git file: %v", err)
	}
	runGit(t, dir, "worktree", "prune")
	if _, err := there(); err == nil || !strings.Contains(err.Error(), "in no work tree") {
		t.Errorf("a work tree that is not listed: %v", err)
	}
}

// core.worktree could lead to a clean copy of the files.
func TestARepositoryWhoseFilesAreElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	runGit(t, dir, "config", "core.worktree", t.TempDir())
	if _, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus/git"), worktree.Options{}); err == nil || !strings.Contains(err.Error(), "core.worktree") {
		t.Errorf("err = %v", err)
	}
}

func TestAGitInTheWorkTreeIsRefused(t *testing.T) {
	dir := committed(t)
	wrap(t, "touch "+filepath.Join(dir, "canary"))
	if err := os.Rename(filepath.SplitList(os.Getenv("PATH"))[0], filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "bin"), "bin", "."} {
		t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
		for _, at := range []string{dir, filepath.Join(dir, "src")} {
			_, err := worktree.Open(t.Context(), at, filepath.Join(dir, ".ferrus/git"), worktree.Options{})
			if err == nil || exists(filepath.Join(dir, "canary")) {
				t.Errorf("PATH=%s in %s: %v", path, at, err)
			}
		}
	}
}
