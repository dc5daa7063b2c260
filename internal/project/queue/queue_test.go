package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

func put(t *testing.T, home, name, text string) Item {
	t.Helper()
	it, err := Put(home, name, text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(it.Path); err != nil || string(got) != (Head{Added: it.Added}).With(text) || it.Added.IsZero() || it.Text != text {
		t.Fatalf("%s holds %q: %v", it.Path, got, err)
	}
	return it
}

func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func names(list []Item) (names []string) {
	for _, it := range list {
		names = append(names, it.Name)
	}
	return names
}

// files are all there are below a folder, sorted.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// TestTasksAreTakenInTheOrderInWhichTheyWereAdded, and each is taken once.
func TestTasksAreTakenInTheOrderInWhichTheyWereAdded(t *testing.T) {
	home := t.TempDir()
	if list, err := List(home); len(list) != 0 || err != nil {
		t.Errorf("there is no folder yet: %v, %v", list, err)
	}
	put(t, home, "b", "First.")
	put(t, home, "a-2", "Second.")
	put(t, home, "a", "Third.")
	list, err := List(home)
	if want := []string{"b", "a-2", "a"}; err != nil || !slices.Equal(names(list), want) || list[0].Text != "First." {
		t.Fatalf("%+v, %v", list, err)
	}
	for range 2 {
		if err := takes(list[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := files(t, home), []string{"queue/a-2.md", "queue/a.md", "queue/taken/b.md"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// TestANameIsMadeOfTheFirstLine, and is one that a branch can have.
func TestANameIsMadeOfTheFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"Fix the login":                          "fix-the-login",
		"\n\n## Fix: the *login*, please!\nNow.": "fix-the-login-please",
		"Ärger mit ß und 2 Umlauten":             "rger-mit-und-2-umlauten",
		"...":                                    "task",
		"日本語":                                    "task",
		strings.Repeat("word ", 20):              "word-word-word-word-word-word-word-word",
		strings.Repeat("x", 90):                  strings.Repeat("x", 40),
		"-rf / && git push --force":              "rf-git-push-force",
	} {
		if got := put(t, t.TempDir(), "", text); got.Name != want {
			t.Errorf("%q is called %q, not %q", text, got.Name, want)
		}
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("Fix the login")
	f.Add("a.lock")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range []int{1, 2, 11, 1234} {
			if err := state.CheckBranch(numbered(slug(text), n)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestATakenNameIsNumbered, whichever task has it.
func TestATakenNameIsNumbered(t *testing.T) {
	home := t.TempDir()
	lay(t, filepath.Join(home, "branches", "fix", "journal.jsonl"), "")
	if err := takes(put(t, home, "fix", "One.")); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("l", 40)
	for _, c := range []struct{ name, want string }{{"fix", "fix-3"}, {"fix", "fix-4"}, {long, long}, {long, long[:38] + "-2"}} {
		if got := put(t, home, c.name, "Another."); got.Name != c.want {
			t.Errorf("%s is called %s, not %s", c.name, got.Name, c.want)
		}
	}
}

// TestNothingIsEverOverwritten, however many put and take at once.
func TestNothingIsEverOverwritten(t *testing.T) {
	home, all := t.TempDir(), sync.WaitGroup{}
	const many = 20
	for i := range many {
		all.Go(func() {
			it, err := Put(home, "same", fmt.Sprint("Task ", i))
			if err == nil && i%2 == 0 {
				err = errors.Join(takes(it), takes(it))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	texts := map[string]bool{}
	for _, name := range files(t, home) {
		text, err := os.ReadFile(filepath.Join(home, name))
		if err != nil || strings.Contains(name, "tmp") {
			t.Errorf("%s is left: %v", name, err)
		}
		texts[string(text)] = true
	}
	if list, err := List(home); len(list) != many/2 || len(texts) != many || err != nil {
		t.Errorf("%d wait, %d in all: %v", len(list), len(texts), err)
	}
}

// TestATakingThatWasCutOffIsFinished, and what lies there already stays.
func TestATakingThatWasCutOffIsFinished(t *testing.T) {
	home := t.TempDir()
	lay(t, filepath.Join(home, "queue", "taken", "a.md"), "Long ago.")
	lay(t, filepath.Join(home, "queue", "a.md"), "By hand.")
	lay(t, filepath.Join(home, "queue", "b.md"), "Cut off.")
	if err := os.Link(filepath.Join(home, "queue", "b.md"), filepath.Join(home, "queue", "taken", "b.md")); err != nil {
		t.Fatal(err)
	}
	list, err := List(home)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, it := range list {
		if err := takes(it); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := files(t, filepath.Join(home, "queue")), []string{"taken/a-2.md", "taken/a.md", "taken/b.md"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(home, "queue", "taken", "a.md")); string(text) != "Long ago." || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestWhatIsNoTaskIsNamed, and the others are there all the same.
func TestWhatIsNoTaskIsNamed(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "queue")
	for name, text := range map[string]string{"good.md": "Do it.", "empty.md": " \n", "huge.md": strings.Repeat("x", store.MaxDoc+1), "two words.md": "t",
		"torn.md": "\xff", "x.lock.md": "t", ".hidden.md": "", "notes.txt": "", "half.md.tmp": "", "taken/old.md": "Done."} {
		lay(t, filepath.Join(dir, name), text)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink("good.md", filepath.Join(dir, "link.md")) // where there are any
	list, err := List(home)
	if got := names(list); !slices.Equal(got, []string{"good"}) || err == nil {
		t.Fatalf("%v, %v", got, err)
	}
	said := strings.Split(err.Error(), "\n")
	if len(said) != 5 {
		t.Errorf("%d are named:\n%v", len(said), err)
	}
	for _, name := range []string{"empty.md", "huge.md", "two words.md", "torn.md", "x.lock.md"} {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, name) && strings.Contains(s, "; ") }) {
			t.Errorf("%s is not named with what helps:\n%v", name, err)
		}
	}
}

// TestWhatCannotBeIsRefused, and nothing is left of it.
func TestWhatCannotBeIsRefused(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		name, text string
		code       refusal.Code
	}{{"", "", refusal.InvalidInput}, {"a", " \n", refusal.InvalidInput}, {"a", "\x00", refusal.InvalidInput}, {"a/b", "t", refusal.InvalidInput},
		{"..", "t", refusal.InvalidInput}, {"-a", "t", refusal.InvalidInput}, {"a", strings.Repeat("x", store.MaxDoc+1), refusal.TooLarge}} {
		_, err := Put(home, c.name, c.text)
		var said *refusal.RefusedError
		if !errors.As(err, &said) || said.Code != c.code || said.Remedy == "" {
			t.Errorf("%q %.10q: %v", c.name, c.text, err)
		}
	}
	if got := files(t, home); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	if _, err := Put(filepath.Join(home, "nowhere"), "a", "t"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no .ferrus folder: %v", err)
	}
}

// takes takes a task, as one does who has made its branch.
func takes(it Item) error {
	c, err := Take(context.Background(), it)
	if err != nil || c == nil {
		return err
	}
	return errors.Join(c.Done(), c.Close())
}
