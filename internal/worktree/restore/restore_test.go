package restore_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/test/kit"
)

func restored(t testing.TB, tree *restore.WorkTree, from, to string) restore.Change {
	t.Helper()
	c, err := tree.Restore(t.Context(), from, to, "t/edits")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Edited) > 0 {
		t.Errorf("nobody has edited %v", c.Edited)
	}
	return c
}

// names are drawn from few, so that files, folders and links take each other's place.
var names = []string{
	"a", "b c", "ü", "d", "d/x", "d/y", "d/e", "d/e/z", "n.o", "d/n.o", "build", "build/q", "build/q/r",
	"quo\"te", "-dash", ".gitignore", "d/.gitignore", "d/e/.gitignore", "build/.gitignore",
}

var rules = []string{"", "*.o\n", "build/\n", "*.o\n/build/\n", "*\n!.gitignore\n", ".gitignore\n", "d/\n", "!n.o\n", "e/\n", "y\n"}

// scramble draws a state of the work tree, and what of it the user tracks.
func scramble(t *rapid.T, tb testing.TB, dir string, used map[string]int) {
	for range rapid.IntRange(1, 12).Draw(t, "changes") {
		name := rapid.SampledFrom(names).Draw(t, "name")
		path := filepath.Join(dir, filepath.FromSlash(name))
		kind := rapid.SampledFrom([]string{"file", "file", "file", "exec", "link", "gone", "gone", "track", "untrack"}).Draw(t, "kind")
		if strings.HasSuffix(name, ".gitignore") && kind != "gone" && kind != "track" {
			kind = "rules"
		}
		used[kind]++
		switch kind {
		case "track", "untrack":
			verb := []string{"add", "-f"}
			if kind == "untrack" {
				verb = []string{"rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch"}
			}
			if _, err := os.Stat(path); err == nil && straight(dir, name) {
				runGit(tb, dir, append(verb, "--", name)...)
			}
			continue
		}
		for up := filepath.Dir(path); kind != "gone" && up != dir; up = filepath.Dir(up) {
			if info, err := os.Lstat(up); err == nil && !info.IsDir() {
				os.Remove(up)
			}
		}
		_ = os.RemoveAll(path) // not where a file leads to it
		if kind == "gone" {
			continue
		}
		switch kind {
		case "link":
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				tb.Fatal(err)
			}
			if err := os.Symlink(rapid.SampledFrom([]string{"a", "d", "nowhere", "../x"}).Draw(t, "target"), path); err != nil {
				tb.Fatal(err)
			}
		case "rules":
			write(tb, dir, name, rapid.SampledFrom(rules).Draw(t, "rules"))
		default:
			write(tb, dir, name, rapid.SampledFrom([]string{"", "1\n", "2\n", "\r\n", "\x00"}).Draw(t, "text"))
			if kind == "exec" {
				if err := os.Chmod(path, 0o755); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
}

// straight reports whether no link leads to name: git takes nothing that lies beyond one.
func straight(dir, name string) bool {
	top, err1 := filepath.EvalSymlinks(dir)
	folder, err2 := filepath.EvalSymlinks(filepath.Join(dir, filepath.Dir(filepath.FromSlash(name))))
	return err1 == nil && err2 == nil && folder == filepath.Join(top, filepath.Dir(filepath.FromSlash(name)))
}

// TestARestoreCanBeTakenBack: there and back, the work tree is the same to the byte, ignored files too; and all that is
// the user's in the repository was never touched.
func TestARestoreCanBeTakenBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and executable bits")
	}
	checks := most(2, 500)
	switch {
	case testing.Short():
		checks = 5 // of which rapid makes a fifth
	case !kit.Named():
		checks = 1
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := flag.Set("rapid.checks", strconv.Itoa(checks)); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", f.DefValue)
	}
	used := map[string]int{}
	for range 20 { // rarely more than once
		for _, c := range corners {
			rapid.Check(t, func(rt *rapid.T) {
				dir := copied(t, "empty", func(dir string) {
					runGit(t, dir, "init", "-q", "-b", "main", "--template=")
					runGit(t, dir, "commit", "-qm", "none", "--allow-empty")
				})
				there(rt, t, dir, c, used)
			})
		}
		if len(unseen(used)) == 0 {
			return
		}
	}
	t.Errorf("never seen: %q (%v)", unseen(used), used)
}

// unseen are the corners and the kinds of changes that have not come up.
func unseen(used map[string]int) (list []string) {
	list = []string{"file", "exec", "link", "gone", "track", "untrack", "rules"}
	for _, c := range corners {
		list = append(list, c.sees)
	}
	return slices.DeleteFunc(list, func(what string) bool { return used[what] > 0 })
}

// A corner is what drawing alone seldom sees.
type corner struct {
	sees     string
	one, two func(t testing.TB, dir string)
}

func nothing(testing.TB, string) {}

func unruled(t testing.TB, dir string) {
	for _, name := range names {
		if strings.HasSuffix(name, ".gitignore") {
			_ = os.RemoveAll(filepath.Join(dir, name))
		}
	}
	anew(t, dir, "counted")
}

func anew(t testing.TB, dir, text string) {
	remove(t, dir, "n.o")
	write(t, dir, "n.o", text)
}

func ruled(t testing.TB, dir string) { write(t, dir, ".gitignore", "*.o\n") }

var corners = []corner{
	{"restored", nothing, nothing},
	{"spared", unruled, func(t testing.TB, dir string) { ruled(t, dir); remove(t, dir, "n.o") }},
	{"more", func(t testing.TB, dir string) { unruled(t, dir); remove(t, dir, "n.o") }, func(t testing.TB, dir string) {
		ruled(t, dir)
		anew(t, dir, "ignored")
	}},
	{"blocked", unruled, func(t testing.TB, dir string) { ruled(t, dir); anew(t, dir, "ignored") }},
	{"link gone", nothing, func(t testing.TB, dir string) {
		remove(t, dir, "k")
		if err := os.Symlink("d", filepath.Join(dir, "k")); err != nil {
			t.Fatal(err)
		}
	}},
}

func there(rt *rapid.T, t *testing.T, dir string, c corner, used map[string]int) {
	scramble(rt, t, dir, used)
	c.one(t, dir)
	tree := openWork(t, dir)
	one := save(t, tree.Tree, "t/1")
	scramble(rt, t, dir, used)
	c.two(t, dir)
	two := save(t, tree.Tree, "t/2")
	disk, repository := manifest(t, dir), users(t, dir)
	same := func(when string, disk map[string]string) {
		t.Helper()
		if diff := cmp.Diff(disk, manifest(t, dir)); diff != "" {
			rt.Fatalf("%s:\n%s", when, diff)
		}
		if diff := cmp.Diff(repository, users(t, dir)); diff != "" {
			rt.Fatalf("%s, the user's repository:\n%s", when, diff)
		}
	}

	foretold := tree.Blocked(t.Context(), two, one)
	same("only asked", disk)
	_, err := tree.Restore(t.Context(), two, one, "t/edits")
	if fmt.Sprint(foretold) != fmt.Sprint(err) {
		rt.Fatalf("Blocked: %v; Restore: %v", foretold, err)
	}
	if blocked := new(restore.BlockedError); errors.As(err, &blocked) {
		used["blocked"]++
		if _, ok := disk[filepath.FromSlash(blocked.Path)]; !ok {
			rt.Fatalf("blocked by %s, which is not there", blocked.Path)
		}
		same("a refused restore", disk)
		return
	} else if err != nil {
		rt.Fatal(err)
	}
	used["restored"]++
	three := save(t, tree.Tree, "t/3")
	had, has := paths(t, tree.Tree, "", two), paths(t, tree.Tree, one, three)
	middle, seen := manifest(t, dir), paths(t, tree.Tree, "", three)
	var hidden []string
	for _, path := range has { // what came to be counted because nothing ignores it now
		if middle[filepath.FromSlash(path)] != "" && !slices.Contains(seen, path) {
			hidden = append(hidden, path) // it is back, and ignored by rules that are themselves ignored, and so stay
			continue
		}
		used["more"]++
		if slices.Contains(had, path) || disk[filepath.FromSlash(path)] == "" {
			rt.Fatalf("restored, and yet %s differs", path)
		}
	}
	if len(has) == 0 && three != one {
		rt.Fatal("restored, and yet another tree")
	}
	for name, was := range disk {
		if strings.HasPrefix(was, "link") && middle[name] != was {
			used["link gone"]++
		}
	}
	if blocked := new(restore.BlockedError); errors.As(tree.Blocked(t.Context(), three, two), &blocked) && slices.Contains(hidden, blocked.Path) {
		return // what git ignores is never taken away
	}
	restored(t, tree, three, two)
	if id := fingerprint(t, tree.Tree); id != two {
		rt.Fatalf("fingerprint %s, want %s", id, two)
	}
	// What git ignores again stays, whether it was there before or not: nothing says so.
	counted := paths(t, tree.Tree, "", one)
	for name, is := range manifest(t, dir) {
		if disk[name] == "" && middle[name] == is && slices.Contains(counted, filepath.ToSlash(name)) {
			used["spared"]++
			disk[name] = is
		}
	}
	same("there and back", disk)
}
