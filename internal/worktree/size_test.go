package worktree_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

func TestHowMuchTreesDiffer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		want   worktree.Size
	}{
		"nothing":       {func(t *testing.T, dir string) {}, worktree.Size{}},
		"an edit":       {func(t *testing.T, dir string) { write(t, dir, "a.txt", "b\nc\n") }, worktree.Size{Files: 1, Added: 2, Deleted: 1}},
		"a new file":    {func(t *testing.T, dir string) { write(t, dir, "n", "1\n2\n3") }, worktree.Size{Files: 1, Added: 3}},
		"an empty file": {func(t *testing.T, dir string) { write(t, dir, "n", "") }, worktree.Size{Files: 1}},
		"a deletion":    {func(t *testing.T, dir string) { remove(t, dir, "long") }, worktree.Size{Files: 1, Deleted: 20}},
		"a binary file": {func(t *testing.T, dir string) { write(t, dir, "bin", "\x00\n\n") }, worktree.Size{Files: 1, Added: 2}},
		"an executable bit": {func(t *testing.T, dir string) { chmod(t, dir, "a.txt", 0o755) },
			worktree.Size{Files: 1}},
		"a move": {func(t *testing.T, dir string) { rename(t, dir, "long", "lib long") }, worktree.Size{Files: 1}},
		"a move and an edit": {func(t *testing.T, dir string) {
			remove(t, dir, "long")
			write(t, dir, "src/long", strings.Repeat("line\n", 20)+"one more\n")
		}, worktree.Size{Files: 1, Added: 1}},
		"odd names": {func(t *testing.T, dir string) {
			write(t, dir, "5\t5\tü \"", "1\n")
			write(t, dir, "new\nline", "1\n")
			write(t, dir, "a => b", "1\n")
		}, worktree.Size{Files: 3, Added: 3}},
		"many": {func(t *testing.T, dir string) {
			for i := range 150 {
				write(t, dir, fmt.Sprintf("n/%d", i), "1\n2\n")
			}
		}, worktree.Size{Files: 150, Added: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.HasPrefix(name, "odd") || strings.HasPrefix(name, "an exec")) {
				t.Skip("not there")
			}
			dir := committed(t)
			write(t, dir, "long", strings.Repeat("line\n", 20))
			// Settings that change what a person's git diff counts.
			configure(t, dir, "[diff]\nrenames = false\nexternal = false\nignoreSubmodules = all\n")
			tree := open(t, dir)
			from := fingerprint(t, tree)
			tt.change(t, dir)
			to := fingerprint(t, tree)
			if got, err := tree.Size(t.Context(), from, to); got != tt.want || err != nil {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
			back := worktree.Size{Files: tt.want.Files, Added: tt.want.Deleted, Deleted: tt.want.Added}
			if got, err := tree.Size(t.Context(), to, from); got != back || err != nil {
				t.Errorf("back: %+v, %v; want %+v", got, err, back)
			}
			stat, err := tree.Diffstat(t.Context(), from, to)
			if total := fmt.Sprintf(" %d file", tt.want.Files); err != nil || tt.want.Files > 0 && !strings.Contains(stat, total) {
				t.Errorf("Diffstat lacks %q: %v\n%s", total, err, stat)
			}
		})
	}
}

func TestTheSizeOfAWholeTree(t *testing.T) {
	dir := committed(t)
	tree := open(t, dir)
	id := fingerprint(t, tree)
	if got, err := tree.Size(t.Context(), "", id); got != (worktree.Size{Files: 3, Added: 4}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := tree.Size(t.Context(), "HEAD", id); err == nil {
		t.Errorf("HEAD is taken for an id: %+v", got)
	}
	t.Setenv("PATH", t.TempDir())
	bare, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := bare.Size(t.Context(), "", id); got != (worktree.Size{}) || err != nil {
		t.Errorf("without git: %+v, %v", got, err)
	}
}
