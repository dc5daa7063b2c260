package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheIndexSaysWhatIsTracked: in every format of the index, from a folder of the repository, and in a linked work tree.
func TestTheIndexSaysWhatIsTracked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config []string
		after  []string
	}{
		"usual":     {},
		"version 4": {config: []string{"-c", "index.version=4"}},
		"split":     {after: []string{"update-index", "--split-index"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", append(append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, c.config...), args...)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			put := func(name string) {
				t.Helper()
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run("init", "-q", "--template=")
			for _, name := range []string{".editorconfig", ".features", "sub/a", "z"} {
				put(name)
			}
			run("add", "-f", ".")
			if c.after != nil {
				run(c.after...)
			}
			before := FindIndex(filepath.Join(dir, "sub"))
			if !before.Unchanged() {
				t.Error("changed at once")
			}
			if name == "usual" && before.MayTrack(".ferrus") {
				t.Error("a path is seen that is not there")
			}
			put(".ferrus/STATE.json")
			put("sub/.ferrus/queue/q.md")
			run("add", "-f", ".ferrus", "sub/.ferrus")
			if before.Unchanged() {
				t.Error("the change is not seen")
			}
			if !FindIndex(dir).MayTrack(".ferrus") {
				t.Error("what is tracked is not seen")
			}
			for at, want := range map[string]string{dir: "STATE.json", filepath.Join(dir, "sub"): "queue/q.md"} {
				if names, err := TrackedFiles(t.Context(), at, ".ferrus"); err != nil || len(names) != 1 || names[0] != want {
					t.Errorf("%s: %q, %v", at, names, err)
				}
			}
			put("we[i]rd/one")
			put("weird/two")
			run("add", "-f", ".")
			if names, err := TrackedFiles(t.Context(), dir, "we[i]rd"); err != nil || len(names) != 1 || names[0] != "one" || !Tracked(t.Context(), dir, "we[i]rd") || Tracked(t.Context(), dir, "w*") {
				t.Errorf("in a folder that is a pattern: %q, %v", names, err)
			}
			run("rm", "-rq", "--cached", "weird", ":(literal)we[i]rd")
			if err := Untrack(t.Context(), dir, []string{".ferrus/STATE.json"}); err != nil {
				t.Error(err)
			}
			if names, err := TrackedFiles(t.Context(), dir, ".ferrus"); err != nil || len(names) != 0 {
				t.Errorf("still tracked: %q, %v", names, err)
			}
			run("commit", "-q", "-m", "one")
			linked := filepath.Join(t.TempDir(), "linked")
			run("worktree", "add", "-q", "--detach", linked)
			if !FindIndex(linked).MayTrack(".ferrus") {
				t.Error("in a linked work tree nothing is seen")
			}
		})
	}
	if i := FindIndex(t.TempDir()); i.MayTrack("x") || !i.Unchanged() {
		t.Error("outside of a repository there is an index")
	}
}
