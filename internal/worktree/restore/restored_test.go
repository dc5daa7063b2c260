package restore_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// What a Restore does about one path that is special.
func TestWhatIsRestored(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		from, to func(t *testing.T, dir string) // the state left, and the one come back to
		since    func(t *testing.T, dir string) // what happened after the snapshot
		want     restore.Change
		blocked  string // the path, if it is refused
		differs  bool   // the tree is another one than that come back to, in what is Left or ignored no more
	}{
		{name: "an edit, a new file, a deletion",
			from: func(t *testing.T, dir string) {
				write(t, dir, "a.txt", "2")
				remove(t, dir, "src")
				write(t, dir, "n/n", "n")
			},
			want: restore.Change{Written: []string{"a.txt", "src/b.go"}, Removed: []string{"n/n"}}},
		{name: "edits since where both have the same",
			from:  func(t *testing.T, dir string) { write(t, dir, "a.txt", "2") },
			since: func(t *testing.T, dir string) { write(t, dir, "src/b.go", "edited") },
			want:  restore.Change{Written: []string{"a.txt"}, Left: []string{"src/b.go"}}, differs: true},
		{name: "a deletion since where both have the same",
			from:  func(t *testing.T, dir string) { write(t, dir, "a.txt", "2") },
			since: func(t *testing.T, dir string) { remove(t, dir, "src/b.go") },
			want:  restore.Change{Written: []string{"a.txt"}, Left: []string{"src/b.go"}}, differs: true},
		{name: "an executable bit",
			from: func(t *testing.T, dir string) { chmod(t, dir, "a.txt", 0o755) },
			want: restore.Change{Written: []string{"a.txt"}}},
		{name: "a link for a file",
			from: func(t *testing.T, dir string) {
				remove(t, dir, "a.txt")
				link(t, "src/b.go", filepath.Join(dir, "a.txt"))
			},
			want: restore.Change{Written: []string{"a.txt"}}},
		{name: "a link for a folder",
			from: func(t *testing.T, dir string) {
				rename(t, dir, "src", "lib")
				link(t, "lib", filepath.Join(dir, "src"))
			},
			want: restore.Change{Written: []string{"src/b.go"}, Removed: []string{"lib/b.go", "src"}}},
		{name: "a folder for a file",
			from: func(t *testing.T, dir string) { remove(t, dir, "a.txt"); write(t, dir, "a.txt/x/y", "") },
			want: restore.Change{Written: []string{"a.txt"}, Removed: []string{"a.txt/x/y"}}},
		{name: "an empty folder in the place of a file",
			from: func(t *testing.T, dir string) { remove(t, dir, "a.txt"); mkdir(t, dir, "a.txt/x/y") },
			want: restore.Change{Written: []string{"a.txt"}}},
		{name: "an ignored file",
			from: func(t *testing.T, dir string) { write(t, dir, "x.o", "2"); write(t, dir, "a.txt", "2") },
			to:   func(t *testing.T, dir string) { write(t, dir, "x.o", "1") },
			want: restore.Change{Written: []string{"a.txt"}}},
		{name: "an ignored file that is tracked",
			to:   func(t *testing.T, dir string) { write(t, dir, "x.o", "1"); runGit(t, dir, "add", "-f", "x.o") },
			from: func(t *testing.T, dir string) { write(t, dir, "x.o", "2") },
			want: restore.Change{Written: []string{"x.o"}}},
		{name: "an ignored file that was tracked, and is the same",
			to:      func(t *testing.T, dir string) { write(t, dir, "x.o", "1"); runGit(t, dir, "add", "-f", "x.o") },
			from:    func(t *testing.T, dir string) { runGit(t, dir, "rm", "-q", "--cached", "x.o") },
			want:    restore.Change{Written: []string{"x.o"}},
			differs: true},
		{name: "an ignored file that was tracked, and is another",
			to: func(t *testing.T, dir string) { write(t, dir, "x.o", "1"); runGit(t, dir, "add", "-f", "x.o") },
			from: func(t *testing.T, dir string) {
				runGit(t, dir, "rm", "-q", "--cached", "x.o")
				write(t, dir, "x.o", "2")
			},
			blocked: "x.o"},
		{name: "an ignored file where a folder is to be",
			to: func(t *testing.T, dir string) { write(t, dir, "d.o/x", "1"); runGit(t, dir, "add", "-f", "d.o/x") },
			from: func(t *testing.T, dir string) {
				runGit(t, dir, "rm", "-q", "--cached", "d.o/x")
				remove(t, dir, "d.o")
				write(t, dir, "d.o", "2")
			},
			blocked: "d.o"},
		{name: "an ignored file in a folder where a file is to be",
			from: func(t *testing.T, dir string) {
				remove(t, dir, "a.txt")
				write(t, dir, "a.txt/y", "")
				write(t, dir, "a.txt/x.o", "")
			},
			blocked: "a.txt/x.o"},
		{name: "an ignored link where a folder is to be",
			to: func(t *testing.T, dir string) { write(t, dir, "d.o/x", "1"); runGit(t, dir, "add", "-f", "d.o/x") },
			from: func(t *testing.T, dir string) {
				runGit(t, dir, "rm", "-q", "--cached", "d.o/x")
				remove(t, dir, "d.o")
				link(t, "src", filepath.Join(dir, "d.o"))
			},
			blocked: "d.o"},
		{name: "a named pipe in a folder where a file is to be",
			from: func(t *testing.T, dir string) {
				remove(t, dir, "a.txt")
				mkdir(t, dir, "a.txt")
				pipe(t, dir, "a.txt/p")
			},
			blocked: "a.txt/p"},
		{name: "a file that nothing ignores any more",
			from: func(t *testing.T, dir string) { write(t, dir, "x.o", "1") },
			to:   func(t *testing.T, dir string) { remove(t, dir, ".gitignore") },
			want: restore.Change{Removed: []string{".gitignore"}}, differs: true},
		{name: "a file that is ignored again",
			from: func(t *testing.T, dir string) {
				remove(t, dir, ".gitignore")
				write(t, dir, "x.o", "1")
				write(t, dir, "x.c", "1")
			},
			want: restore.Change{Written: []string{".gitignore"}, Removed: []string{"x.c"}}},
		{name: "a tracked file that is ignored again",
			from: func(t *testing.T, dir string) {
				remove(t, dir, ".gitignore")
				write(t, dir, "x.o", "1")
				runGit(t, dir, "add", "x.o")
			},
			want: restore.Change{Written: []string{".gitignore"}, Removed: []string{"x.o"}}},
		{name: "an edit since the snapshot",
			from:    func(t *testing.T, dir string) { write(t, dir, "a.txt", "2") },
			since:   func(t *testing.T, dir string) { write(t, dir, "a.txt", "3") },
			blocked: "a.txt"},
		{name: "an edit since the snapshot of a file to be removed",
			from:    func(t *testing.T, dir string) { write(t, dir, "n", "2") },
			since:   func(t *testing.T, dir string) { write(t, dir, "n", "3") },
			blocked: "n"},
		{name: "the same edit since the snapshot",
			from:  func(t *testing.T, dir string) { write(t, dir, "a.txt", "2"); write(t, dir, "n", "2") },
			since: func(t *testing.T, dir string) { write(t, dir, "a.txt", "a\n") },
			want:  restore.Change{Removed: []string{"n"}}},
		{name: "a new file since the snapshot",
			from:  func(t *testing.T, dir string) { write(t, dir, "a.txt", "2") },
			since: func(t *testing.T, dir string) { write(t, dir, "n", "3") },
			want:  restore.Change{Written: []string{"a.txt"}, Left: []string{"n"}}, differs: true},
		{name: "an embedded repository of now",
			from: func(t *testing.T, dir string) { embed(t, dir, "sub", true); write(t, dir, "n", "") },
			want: restore.Change{Removed: []string{"n"}, Left: []string{"sub"}}, differs: true},
		{name: "an embedded repository of then",
			to:   func(t *testing.T, dir string) { embed(t, dir, "sub", true) },
			from: func(t *testing.T, dir string) { remove(t, dir, "sub/.git"); write(t, dir, "n", "") },
			want: restore.Change{Removed: []string{"n"}, Left: []string{"sub"}}, differs: true},
		{name: "an embedded repository with another commit",
			to: func(t *testing.T, dir string) { embed(t, dir, "sub", true) },
			from: func(t *testing.T, dir string) {
				runGit(t, filepath.Join(dir, "sub"), "commit", "-q", "--allow-empty", "-m", "2")
			},
			want: restore.Change{Left: []string{"sub"}}, differs: true},
		{name: "files where a repository without a commit is now",
			to: func(t *testing.T, dir string) { write(t, dir, "sub/x", "1") },
			from: func(t *testing.T, dir string) {
				remove(t, dir, "sub")
				embed(t, dir, "sub", false)
				write(t, dir, "n", "")
			},
			want: restore.Change{Removed: []string{"n"}, Left: []string{"sub"}}, differs: true},
		{name: "a file where a repository is now",
			from:    func(t *testing.T, dir string) { remove(t, dir, "a.txt"); embed(t, dir, "a.txt", false) },
			blocked: "a.txt"},
		{name: "ferrus's own",
			from: func(t *testing.T, dir string) { write(t, dir, ".ferrus/STATE.json", "2"); write(t, dir, "a.txt", "2") },
			to:   func(t *testing.T, dir string) { write(t, dir, ".ferrus/STATE.json", "1") },
			want: restore.Change{Written: []string{"a.txt"}}},
		{name: "a file that the user hides from git",
			from: func(t *testing.T, dir string) {
				write(t, dir, "a.txt", "2")
				runGit(t, dir, "update-index", "--skip-worktree", "a.txt")
			},
			want: restore.Change{Written: []string{"a.txt"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := committed(t)
			tree := openWork(t, dir)
			if tt.to != nil {
				tt.to(t, dir)
			}
			to := save(t, tree.Tree, "t/1")
			runGit(t, dir, "checkout", "-q", "--", ".") // what to changed of HEAD is not to be found here
			if tt.from != nil {
				tt.from(t, dir)
			}
			from := save(t, tree.Tree, "t/2")
			if tt.since != nil {
				tt.since(t, dir)
			}
			before, repository := manifest(t, dir), users(t, dir)
			foretold := tree.Blocked(t.Context(), from, to)
			if diff := cmp.Diff(before, manifest(t, dir)); diff != "" {
				t.Errorf("only asked, and yet:\n%s", diff)
			}
			got, err := tree.Restore(t.Context(), from, to, "t/edits")
			if fmt.Sprint(foretold) != fmt.Sprint(err) {
				t.Errorf("Blocked: %v; Restore: %v", foretold, err)
			}
			if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
				t.Errorf("the user's repository:\n%s", diff)
			}
			if blocked := new(restore.BlockedError); errors.As(err, &blocked) {
				if blocked.Path != tt.blocked || !strings.Contains(err.Error(), "move") {
					t.Errorf("blocked: %v; want %q", err, tt.blocked)
				}
				if diff := cmp.Diff(before, manifest(t, dir)); diff != "" {
					t.Errorf("refused, and yet:\n%s", diff)
				}
				return
			}
			if err != nil || tt.blocked != "" {
				t.Fatalf("err = %v, want one about %q", err, tt.blocked)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("change:\n%s", diff)
			}
			if id := fingerprint(t, tree.Tree); (id != to) != tt.differs {
				t.Errorf("differs: %q", paths(t, tree.Tree, to, id))
			}
			again, err := tree.Restore(t.Context(), from, to, "t/edits")
			if err != nil || len(again.Removed) > 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
			if err := tree.Blocked(t.Context(), from, to); err != nil {
				t.Errorf("asked afterwards: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".ferrus/git/move-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestFoldersThatARestoreEmptiesGo(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := openWork(t, dir)
	to := save(t, tree.Tree, "t/1")
	for _, name := range []string{"n/n/n", "k/n", "src/n/n"} {
		write(t, dir, name, "n")
	}
	write(t, dir, "k/x.o", "ignored")
	mkdir(t, dir, "empty/before")
	restored(t, tree, save(t, tree.Tree, "t/2"), to)
	for name, want := range map[string]bool{"n": false, "k/x.o": true, "src/n": false, "src": true, "empty/before": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}

// Files have the bytes that git checkout would give them, by the attributes of the tree that is come back to.
func TestFiltersAreThoseOfTheTree(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	runGit(t, dir, "config", "filter.rot.clean", "tr a-z n-za-m")
	runGit(t, dir, "config", "filter.rot.smudge", "tr a-z n-za-m")
	states := []map[string]string{
		{".gitattributes": "", "n": "plain\n", "unix": "u\n", "dos": "d\n", "raw.bin": "\x00\r\n"},
		{".gitattributes": "n filter=rot\ndos text eol=crlf\n*.bin -text\n", "n": "secret\n", "unix": "u\n", "dos": "d\r\n", "raw.bin": "\x00\r\n"},
		{".gitattributes": "dos text eol=crlf\nunix text eol=crlf\n", "n": "other\n", "unix": "u\r\n", "dos": "d\r\n", "raw.bin": "\x00\r\n", "src/.gitattributes": "* -text\n"},
	}
	tree := openWork(t, dir)
	var ids []string
	for i, state := range states {
		remove(t, dir, "src/.gitattributes")
		for name, text := range state {
			write(t, dir, name, text)
		}
		ids = append(ids, save(t, tree.Tree, fmt.Sprintf("t/%d", i)))
	}
	at := len(states) - 1
	for _, to := range []int{1, 0, 2, 0, 1, 2, 1} {
		restored(t, tree, ids[at], ids[to])
		got := map[string]string{}
		for _, name := range slices.Concat(slices.Collect(maps.Keys(states[0])), []string{"src/.gitattributes"}) {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				got[name] = string(data)
			}
		}
		if diff := cmp.Diff(states[to], got); diff != "" {
			t.Errorf("from %d to %d:\n%s", at, to, diff)
		}
		if id := fresh(t, dir); id != ids[to] {
			t.Errorf("from %d to %d: differs in %q", at, to, paths(t, tree.Tree, ids[to], id))
		}
		at = to
	}

	runGit(t, dir, "config", "filter.rot.smudge", "false")
	runGit(t, dir, "config", "filter.rot.required", "true")
	if err := tree.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "n", "changed\n")
	from, before := save(t, tree.Tree, "t/9"), manifest(t, dir)
	if _, err := tree.Restore(t.Context(), from, ids[1], "t/edits"); err == nil || !strings.Contains(err.Error(), "n") {
		t.Errorf("a filter that fails: %v", err)
	}
	if diff := cmp.Diff(before, manifest(t, dir)); diff != "" {
		t.Errorf("a filter failed, and yet:\n%s", diff)
	}
}

// Nothing of the disk can be written by way of a tree that is made to.
func TestATreeCannotLeadOutside(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := openWork(t, dir)
	from := save(t, tree.Tree, "t/1")
	inner := strings.TrimSpace(runGit(t, dir, "rev-parse", "HEAD^{tree}"))
	for _, name := range []string{"..", ".git", ".GIT", "."} {
		write(t, dir, ".git/entry", fmt.Sprintf("040000 tree %s\t%s\n", inner, name))
		bad := strings.TrimSpace(runGit(t, dir, "-c", "alias.make=!git mktree <.git/entry", "make"))
		if _, err := tree.Restore(t.Context(), from, bad, "t/edits"); err == nil {
			t.Errorf("a tree with %q is restored", name)
		}
	}
	for _, bad := range []string{"", "HEAD", "--output=x", from[:7]} {
		if _, err := tree.Restore(t.Context(), from, bad, "t/edits"); err == nil {
			t.Errorf("%q is taken for a tree", bad)
		}
		if _, err := tree.Restore(t.Context(), bad, from, "t/edits"); err == nil {
			t.Errorf("%q is taken for a snapshot", bad)
		}
	}
}

func TestARestoreInASparseCheckout(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "lib/c", "c")
	write(t, dir, "src/d", "d")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "two")
	tree := openWork(t, dir)
	write(t, dir, "src/b.go", "other\n")
	write(t, dir, "lib/c", "other")
	remove(t, dir, "src/d")
	other := save(t, tree.Tree, "t/1")
	runGit(t, dir, "checkout", "-q", ".")
	runGit(t, dir, "sparse-checkout", "set", "lib")
	now, before, repository := save(t, tree.Tree, "t/2"), manifest(t, dir), users(t, dir)
	if _, ok := before["src/b.go"]; ok {
		t.Fatal("not sparse")
	}
	got := restored(t, tree, now, other)
	want := restore.Change{Written: []string{"lib/c", "src/b.go"}, Left: []string{"src/d"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("there:\n%s", diff)
	}
	three := save(t, tree.Tree, "t/3")
	if left := paths(t, tree.Tree, other, three); !slices.Equal(left, []string{"src/d"}) {
		t.Errorf("differs in %q", left)
	}
	restored(t, tree, three, now)
	if diff := cmp.Diff(before, manifest(t, dir)); diff != "" {
		t.Errorf("and back:\n%s", diff)
	}
	if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
		t.Errorf("the user's repository:\n%s", diff)
	}
}

func TestARestoreFromASubfolderIsOfTheWholeTree(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	to := save(t, open(t, dir), "t/1")
	write(t, dir, "a.txt", "2")
	tree, err := worktree.Open(t.Context(), filepath.Join(dir, "src"), filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	restored(t, restore.In(tree), save(t, tree, "t/2"), to)
	if got := fresh(t, dir); got != to {
		t.Errorf("got %s, want %s", got, to)
	}
}

// Killed anywhere, and called again with the same trees: it finishes, and nothing of the user's is lost.
func TestAKilledRestoreIsFinished(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and a shell")
	}
	deaths(t, func(t *testing.T, d death) bool {
		dir := committed(t)
		write(t, dir, "x.o", "ignored")
		write(t, dir, "d", "file")
		tree := openWork(t, dir)
		one := save(t, tree.Tree, "t/1")
		for _, name := range []string{"d", ".gitignore", "src"} {
			remove(t, dir, name)
		}
		write(t, dir, "d/e/f", "folder")
		write(t, dir, ".gitignore", "*.o\n*.p\n")
		link(t, "d", filepath.Join(dir, "src"))
		write(t, dir, "x.p", "ignored, and then not")
		two := save(t, tree.Tree, "t/2")
		repository := users(t, dir)
		died := die(t, d, dir, "restore", two, one)
		restored(t, tree, two, one)
		if left := paths(t, tree.Tree, one, fingerprint(t, tree.Tree)); !slices.Equal(left, []string{"x.p"}) {
			t.Errorf("differs in %q", left)
		}
		files := manifest(t, dir)
		if files["x.o"] != `false "ignored"` || files["x.p"] == "" || len(files) != 6 {
			t.Errorf("on disk: %v", files)
		}
		if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
			t.Errorf("the user's repository:\n%s", diff)
		}
		return died
	})
}

// Killed anywhere, a Save has kept the tree or not; what it had of it, it has still, whatever git deletes.
func TestAKilledSaveIsMadeAgain(t *testing.T) {
	deaths(t, func(t *testing.T, d death) bool {
		dir := committed(t)
		disturb(t, dir)
		runGit(t, dir, "reset", "-q")
		collect(t, dir)
		tree := openWork(t, dir)
		id := fingerprint(t, tree.Tree)
		died := die(t, d, dir, "save", "t/1")
		if d.Call != "during" {
			collect(t, dir)
		}
		if out := runGit(t, dir, "for-each-ref", "--format=%(tree)", "refs/ferrus/"); out != "" {
			whole(t, dir, "t/1", strings.TrimSpace(out))
		}
		if err := tree.SaveRef(t.Context(), "t/1", id); err != nil {
			t.Error(err)
		}
		whole(t, dir, "t/1", id)
		return died
	})
}

// A tree need not be one of ours: it may have what Open leaves out.
func TestWhatOpenLeavesOutIsNotRestored(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	for _, name := range []string{".ferrus/STATE.json", "deep/.ferrus/x", "out.log"} {
		write(t, dir, name, "theirs")
		runGit(t, dir, "add", "-f", name)
	}
	write(t, dir, "a.txt", "theirs")
	runGit(t, dir, "add", "a.txt")
	to := strings.TrimSpace(runGit(t, dir, "write-tree"))
	for _, name := range []string{".ferrus/STATE.json", "deep/.ferrus/x", "out.log", "a.txt"} {
		write(t, dir, name, "ours")
	}
	tree := openWork(t, dir, "*.log")
	got := restored(t, tree, save(t, tree.Tree, "t/1"), to)
	if diff := cmp.Diff(restore.Change{Written: []string{"a.txt", "deep/.ferrus/x"}}, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{".ferrus/STATE.json": "ours", "deep/.ferrus/x": "theirs", "out.log": "ours", "a.txt": "theirs"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}
