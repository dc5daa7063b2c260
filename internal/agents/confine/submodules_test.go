package confine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// withSubmodules is a repository with a submodule in a folder, and one that was never checked out.
func withSubmodules(t *testing.T) (main string, tree *worktree.Tree) {
	t.Helper()
	main, err := filepath.EvalSymlinks(worktreetest.Committed(t))
	must(t, err)
	from := worktreetest.Committed(t)
	worktreetest.RunGit(t, main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", from, "lib/sub")
	commit := strings.TrimSpace(worktreetest.RunGit(t, from, "rev-parse", "HEAD"))
	worktreetest.RunGit(t, main, "update-index", "--add", "--cacheinfo", "160000,"+commit+",empty")
	worktreetest.RunGit(t, main, "commit", "-qm", "submodules")
	private := filepath.Join(main, ".ferrus", "git")
	must(t, os.MkdirAll(private, 0o700))
	tree, err = worktree.Open(t.Context(), main, private, worktree.Options{})
	must(t, err)
	return main, tree
}

// TestSubmodulesAreFoundAsTheyAre: with what their .git says, and nothing else of the work tree.
func TestSubmodulesAreFoundAsTheyAre(t *testing.T) {
	main, tree := withSubmodules(t)
	want := func(when string, want ...confine.Submodule) {
		t.Helper()
		got, err := confine.Submodules(t.Context(), tree.Repository)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, %s", when, err, diff)
		}
	}
	file := filepath.Join(main, "lib", "sub", ".git")
	text, err := os.ReadFile(file)
	must(t, err)
	want("a file .git", confine.Submodule{Path: "empty"}, confine.Submodule{Path: "lib/sub", Text: string(text)})
	must(t, os.Remove(file))
	want("no .git", confine.Submodule{Path: "empty"}, confine.Submodule{Path: "lib/sub"})
	must(t, os.Mkdir(file, 0o700))
	want("a folder .git", confine.Submodule{Path: "empty"}, confine.Submodule{Path: "lib/sub", Folder: true})
	must(t, errors.Join(os.Remove(file), os.Symlink(main, file)))
	want("a link", confine.Submodule{Path: "empty"})
	must(t, os.RemoveAll(filepath.Join(main, "lib")))
	want("it is gone", confine.Submodule{Path: "empty"}, confine.Submodule{Path: "lib/sub"})

	plain := newHost(t, worktreetest.Committed(t)).tree
	if list, err := confine.Submodules(t.Context(), plain.Repository); err != nil || list != nil {
		t.Errorf("without submodules: %v, %v", list, err)
	}
	index := plain.Repository.IndexFile()
	must(t, os.Remove(index))
	if list, err := confine.Submodules(t.Context(), plain.Repository); err != nil || list != nil {
		t.Errorf("without an index: %v, %v", list, err)
	}
	must(t, os.Mkdir(index, 0o700))
	if list, err := confine.Submodules(t.Context(), plain.Repository); err == nil || list != nil {
		t.Errorf("an index that cannot be read: %v, %v", list, err)
	}
	must(t, errors.Join(os.Remove(index), os.WriteFile(index, []byte("DIRC\x00\x00\xe0\x00"), 0o600)))
	if list, err := confine.Submodules(t.Context(), plain.Repository); err == nil || list != nil {
		t.Errorf("an index that git does not read: %v, %v", list, err)
	}
}

// TestWhatAnAgentHasPutInASubmoduleIsUndone: its .git is what it was, and no link is followed.
func TestWhatAnAgentHasPutInASubmoduleIsUndone(t *testing.T) {
	const was = "gitdir: ../../.git/modules/lib/sub\n"
	outside := t.TempDir()
	worktreetest.Write(t, outside, "sub/.git", "elsewhere\n")
	for name, c := range map[string]struct {
		was  confine.Submodule
		do   func(top, git string) error // what the agent does; git is .git of the submodule
		want string                      // of .git; "" for none
	}{
		"nothing":               {confine.Submodule{Text: was}, func(_, git string) error { return nil }, was},
		"another text":          {confine.Submodule{Text: was}, func(_, git string) error { return os.WriteFile(git, []byte("gitdir: /evil\n"), 0o600) }, was},
		"an empty file":         {confine.Submodule{Text: was}, func(_, git string) error { return os.WriteFile(git, nil, 0o600) }, was},
		"it is removed":         {confine.Submodule{Text: was}, func(_, git string) error { return os.Remove(git) }, was},
		"a repository":          {confine.Submodule{Text: was}, func(_, git string) error { return errors.Join(os.Remove(git), os.MkdirAll(git+"/objects", 0o700)) }, was},
		"a link":                {confine.Submodule{Text: was}, func(_, git string) error { return errors.Join(os.Remove(git), os.Symlink(outside+"/sub/.git", git)) }, was},
		"there was none":        {confine.Submodule{}, func(_, git string) error { return nil }, ""},
		"there was none before": {confine.Submodule{}, func(_, git string) error { return os.Remove(git) }, ""},
		"a new repository":      {confine.Submodule{}, func(_, git string) error { return errors.Join(os.Remove(git), os.MkdirAll(git+"/objects", 0o700)) }, ""},
		"it was a folder":       {confine.Submodule{Folder: true}, func(_, git string) error { return nil }, was},
		"the submodule is gone": {confine.Submodule{Text: was}, func(top, _ string) error { return os.RemoveAll(top + "/lib/sub") }, ""},
		"a file in its place": {confine.Submodule{Text: was}, func(top, _ string) error {
			return errors.Join(os.RemoveAll(top+"/lib"), os.WriteFile(top+"/lib", nil, 0o600))
		}, ""},
		"a link in its place": {confine.Submodule{Text: was}, func(top, _ string) error {
			return errors.Join(os.RemoveAll(top+"/lib/sub"), os.Symlink(outside+"/sub", top+"/lib/sub"))
		}, ""},
		"a link above it": {confine.Submodule{Text: was}, func(top, _ string) error {
			return errors.Join(os.RemoveAll(top+"/lib"), os.Symlink(outside, top+"/lib"))
		}, ""},
	} {
		top := t.TempDir()
		git := filepath.Join(top, "lib", "sub", ".git")
		worktreetest.Write(t, top, "lib/sub/.git", was)
		c.was.Path = "lib/sub"
		must(t, c.do(top, git))
		if err := c.was.PutBack(top); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(git)
		if string(text) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: .git says %q, %v", name, text, err)
		}
		if info, err := os.Lstat(git); err == nil && !info.Mode().IsRegular() {
			t.Errorf("%s: .git is %v", name, info.Mode())
		}
		if again := c.was.PutBack(top); again != nil {
			t.Errorf("%s: again: %v", name, again)
		}
	}
	if text, err := os.ReadFile(outside + "/sub/.git"); string(text) != "elsewhere\n" {
		t.Errorf("a link was followed: %q, %v", text, err)
	}
	top := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(top, "lib", "sub"), 0o700))
	must(t, os.Symlink("gone", filepath.Join(top, "lib", "other"))) // which leads to no repository, and may be a person's
	if err := (confine.Submodule{Path: "lib/other", Text: was}).PutBack(top); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(top, "lib", "other")); err != nil {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if err := (confine.Submodule{Path: "sub", Text: was}).PutBack(filepath.Join(top, "gone")); err != nil {
		t.Errorf("a work tree that is gone: %v", err)
	}
	if err := (confine.Submodule{Path: "sub", Text: was}).PutBack("/dev/null"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a work tree that is no folder: %v", err)
	}
}

// TestGitDoesNotLookIntoSubmodules with the index that readers get: whatever repository an agent has put there, status asks it nothing.
func TestGitDoesNotLookIntoSubmodules(t *testing.T) {
	main, tree := withSubmodules(t)
	file := filepath.Join(main, ".ferrus", "git", "index.agents")
	looks := func(t *testing.T) bool {
		said := worktreetest.RunGit(t, main, "status", "--porcelain", "--untracked-files=no")
		if !strings.Contains(said, "M a.txt") {
			t.Errorf("git does not look at the files of the work tree itself: %q", said)
		}
		return strings.Contains(said, "lib/sub")
	}
	worktreetest.Write(t, main, "a.txt", "changed\n")
	worktreetest.Write(t, main, "lib/sub/a.txt", "changed\n")
	if !looks(t) {
		t.Fatal("git does not look into the submodule with the index of the project")
	}
	was, err := os.ReadFile(filepath.Join(main, ".git", "index"))
	must(t, err)
	env, err := confine.WithoutSubmodules(t.Context(), tree.Repository, file)
	if must(t, err); !slices.Equal(env, []string{"GIT_INDEX_FILE=" + file}) {
		t.Errorf("%q", env)
	}
	with := func(name string, env []string, want bool) {
		t.Run(name, func(t *testing.T) {
			for _, kv := range env {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			if looks(t) != want {
				t.Errorf("git looks into the submodule: %v", !want)
			}
		})
	}
	with("with its index", env, false)
	if now, err := os.ReadFile(filepath.Join(main, ".git", "index")); err != nil || !slices.Equal(was, now) {
		t.Errorf("the index of the project has changed: %v", err)
	}
	worktreetest.RunGit(t, main, "sparse-checkout", "set", "--no-cone", "/*")
	with("in a sparse checkout with its index alone", env, true)
	env, err = confine.WithoutSubmodules(t.Context(), tree.Repository, file)
	must(t, err)
	with("in a sparse checkout", env, false)
	worktreetest.RunGit(t, main, "sparse-checkout", "disable")
	if env, err = confine.WithoutSubmodules(t.Context(), tree.Repository, file); err != nil || len(env) != 1 {
		t.Errorf("it is sparse no longer: %q, %v", env, err)
	}
	plain := newHost(t, worktreetest.Committed(t))
	other := filepath.Join(plain.main, ".ferrus", "git", "index.agents")
	if env, err := confine.WithoutSubmodules(t.Context(), plain.tree.Repository, other); err != nil || env != nil {
		t.Errorf("without submodules: %q, %v", env, err)
	}
	if _, err := os.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without submodules there is an index: %v", err)
	}
}
