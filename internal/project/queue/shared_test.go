package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/project/sharing"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// newProject makes a project in files and returns its .ferrus folder.
func newProject(t testing.TB) (root, home string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "p")
	must(t, os.Mkdir(root, 0o755))
	_, err := project.Init(root)
	must(t, err)
	return root, filepath.Join(root, ".ferrus")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// closed closes the database of a project at the end of the test.
func closed(t testing.TB, root string) {
	t.Helper()
	at, err := project.At(root, "").Shared()
	must(t, err)
	t.Cleanup(func() {
		if err := at.Close(); err != nil {
			t.Error(err)
		}
	})
}

// stores return the .ferrus folders by which two people reach one queue: of one computer with files, of two computers with a database.
var stores = map[string]func(t *testing.T) (one, other string){
	"files": func(t *testing.T) (one, other string) {
		_, home := newProject(t)
		return home, home
	},
	"database": computers,
}

// computers makes a project in a database, on two computers.
func computers(t *testing.T) (one, other string) {
	t.Helper()
	url := postgrestest.DurableDatabase(t)
	a, one := newProject(t)
	_, err := sharing.Move(t.Context(), a, url, time.Now())
	must(t, err)
	closed(t, a)
	b, other := newProject(t)
	_, err = sharing.Join(t.Context(), b, url, "", time.Now())
	must(t, err)
	closed(t, b)
	return one, other
}

// waiting are the tasks that wait, with their texts.
func waiting(t testing.TB, home string) (all []string) {
	t.Helper()
	list, err := queue.List(home)
	must(t, err)
	for _, it := range list {
		all = append(all, it.Name+": "+strings.TrimSpace(it.Text))
	}
	return all
}

func want(t testing.TB, home string, all ...string) {
	t.Helper()
	if got := waiting(t, home); !slices.Equal(got, all) {
		t.Errorf("%q wait, not %q", got, all)
	}
}

func put(t testing.TB, home, name, text string) queue.Item {
	t.Helper()
	it, err := queue.Put(home, name, text)
	must(t, err)
	return it
}

func take(t testing.TB, it queue.Item) {
	t.Helper()
	c, err := queue.Take(t.Context(), it)
	must(t, err)
	if c == nil {
		t.Fatalf("%s is taken by somebody else", it.Name)
	}
	must(t, errors.Join(c.Done(), c.Close()))
}

// TestAQueueIsTheSameWhereverItIs: what one adds, changes, removes or takes, the other sees.
func TestAQueueIsTheSameWhereverItIs(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			one, other := open(t)
			want(t, one)
			put(t, one, "b", "Second.")
			put(t, other, "a", "Fi\u200brst.")
			if got := put(t, one, "b", "Another."); got.Name != "b-2" {
				t.Errorf("the name is %s", got.Name)
			}
			if _, err := queue.PutPipeline(other, "research", "the north wall"); err != nil {
				t.Error(err)
			}
			want(t, one, "b: Second.", "a: Fi<U+200B>rst.", "b-2: Another.", "the-north-wall: pipeline: research\n\nthe north wall")
			list, err := queue.Peek(other)
			if err != nil || len(list) != 4 || list[3].Title() != "research: the north wall" {
				t.Errorf("%+v, %v", list, err)
			}
			it, err := queue.Find(other, "b-2")
			must(t, err)
			must(t, queue.Replace(it, "Another\u202e one."))
			want(t, one, "b: Second.", "a: Fi<U+200B>rst.", "b-2: Another<U+202E> one.", "the-north-wall: pipeline: research\n\nthe north wall")
			must(t, queue.Remove(list[3]))
			take(t, list[1])
			want(t, one, "b: Second.", "b-2: Another<U+202E> one.")
			if got := put(t, other, "a", "Again."); got.Name != "a-2" {
				t.Errorf("a name that was used is %s", got.Name)
			}
			// What was taken or removed cannot be changed, and a text that is none is refused.
			for what, err := range map[string]error{
				"replaced": queue.Replace(list[1], "Late."), "removed": queue.Remove(list[3]),
				"empty": queue.Replace(it, "\u200b"), "torn": queue.Replace(it, "\xff"),
			} {
				if said := (*refusal.RefusedError)(nil); !errors.As(err, &said) || said.Code != refusal.InvalidInput || said.Remedy == "" {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := queue.Find(one, "a"); err == nil {
				t.Error("a task that was taken is found")
			}
			want(t, other, "b: Second.", "b-2: Another<U+202E> one.", "a-2: Again.")
		})
	}
}

// TestAFileOfTheFolderBecomesATask of all computers, once, by the first command that looks; what is none stays and is named.
func TestAFileOfTheFolderBecomesATask(t *testing.T) {
	one, other := computers(t)
	drop := func(home, name, text string) string {
		path := filepath.Join(home, "queue", name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
		return path
	}
	put(t, one, "a", "Added.")
	drop(one, "a.md", "By hand.")
	drop(other, "b.md", "Added there.")
	bad := drop(one, "bad.md", " \n")
	list, err := queue.Peek(one)
	if len(list) != 2 || !errors.As(err, new(*queue.InvalidError)) {
		t.Errorf("%+v, %v", list, err)
	}
	want(t, other, "a: Added.", "b: Added there.")
	var each sync.WaitGroup
	for range 8 {
		each.Go(func() {
			if _, err := queue.List(one); !errors.As(err, new(*queue.InvalidError)) || !strings.Contains(err.Error(), bad) {
				t.Errorf("what is no task is not named: %v", err)
			}
		})
	}
	each.Wait()
	must(t, os.Remove(bad))
	want(t, one, "a: Added.", "b: Added there.", "a-2: By hand.")
	// The name of a branch is kept: it may be the one that was made of the file.
	drop(one, "again.md", "Once more.")
	drop(one, "again-2.md", "Once more.")
	want(t, other, "a: Added.", "b: Added there.", "a-2: By hand.")
	want(t, one, "a: Added.", "b: Added there.", "a-2: By hand.", "again: Once more.", "again-2: Once more.")
	left, err := os.ReadDir(filepath.Join(one, "queue"))
	if len(left) != 0 || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestTheOrderOfTheQueueMovesAlong: into a database and back, with a file without a time, which comes last there too. What is added afterwards comes after it.
func TestTheOrderOfTheQueueMovesAlong(t *testing.T) {
	root, home := newProject(t)
	put(t, home, "c", "First.")
	put(t, home, "b", "Second.")
	hand := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(home, "queue", name), []byte(text), 0o600))
	}
	hand("0.md", "By hand.")
	hand("00.md", "By hand, too.")
	hand("d.md", "added: 2026-01-02T03:04:05Z\n\nLong ago.")
	order := []string{"d: Long ago.", "c: First.", "b: Second.", "0: By hand.", "00: By hand, too."}
	want(t, home, order...)
	_, err := sharing.Move(t.Context(), root, postgrestest.DurableDatabase(t), time.Now())
	must(t, err)
	closed(t, root)
	want(t, home, order...)
	put(t, home, "a", "Later.")
	hand("e.md", "added: 2026-01-02T03:04:06Z\n\nBy hand, and long ago.")
	hand("f.md", "By hand, last.")
	order = slices.Concat(order[:1], []string{"e: By hand, and long ago."}, order[1:], []string{"a: Later.", "f: By hand, last."})
	seen, err := queue.Peek(home) // which moves no file
	must(t, err)
	var names []string
	for _, it := range seen {
		name, _, _ := strings.Cut(order[len(names)], ":")
		names = append(names, it.Name)
		if it.Name != name {
			t.Fatalf("those who only look see %q", names)
		}
	}
	want(t, home, order...)
	it, err := queue.Find(home, "c")
	must(t, err)
	must(t, queue.Replace(it, "First."))
	take(t, it)
	order = slices.Delete(order, 2, 3)
	want(t, home, order...)
	_, err = sharing.Return(t.Context(), root)
	must(t, err)
	want(t, home, order...)
	put(t, home, "g", "After all.")
	want(t, home, append(order, "g: After all.")...)
}

// TestAQueueMovesThereAndBackAlsoIfCutOff: each task is there once, and none that was taken waits again.
func TestAQueueMovesThereAndBackAlsoIfCutOff(t *testing.T) {
	url := postgrestest.DurableDatabase(t)
	long := strings.Repeat("Do it well.\n", 100)
	cases := 0
	setup := func(t *testing.T) (root, home string) {
		root, home = newProject(t)
		put(t, home, "a", long)
		put(t, home, "b", "Do b.")
		take(t, put(t, home, "t", "Taken."))
		// Its taking was cut off: it has two names.
		half := put(t, home, "half", "Half.")
		must(t, os.Link(half.Path, filepath.Join(home, "queue", "taken", "half.md")))
		return root, home
	}
	check := func(t *testing.T, home string) {
		t.Helper()
		want(t, home, "a: "+strings.TrimSpace(long), "b: Do b.", "half: Half.")
		for _, name := range []string{"t", "a", "half"} {
			if got := put(t, home, name, "Once more."); got.Name != name+"-2" {
				t.Errorf("the name %s is given again: %s", name, got.Name)
			}
		}
	}
	ways := map[string]struct {
		before, move func(ctx context.Context, root string) error
		shared       bool
	}{
		"there": {func(context.Context, string) error { return nil }, func(ctx context.Context, root string) error {
			_, err := sharing.Move(ctx, root, url, time.Now())
			return err
		}, true},
		"back": {func(ctx context.Context, root string) error {
			_, err := sharing.Move(ctx, root, url, time.Now())
			return err
		}, func(ctx context.Context, root string) error {
			_, err := sharing.Return(ctx, root)
			return err
		}, false},
	}
	for name, way := range ways {
		for n, over := 1, false; !over && !t.Failed(); n++ {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				root, home := setup(t)
				must(t, way.before(t.Context(), root))
				var err error
				over = !atomicfiletest.Fail(t, home, n, true, syscall.ENOSPC, func() { err = way.move(t.Context(), root) })
				if over && err != nil {
					t.Fatal(err)
				}
				cases++
				if project.At(root, "").InDatabase() {
					closed(t, root)
				}
				if err != nil {
					if way.shared && project.At(root, "").InDatabase() {
						// Those who look meanwhile change nothing that the next call does not expect.
						_, _ = queue.List(home)
					}
					if err := way.move(t.Context(), root); err != nil && project.At(root, "").InDatabase() != way.shared {
						t.Fatal(err)
					}
				}
				if way.shared {
					closed(t, root)
				}
				check(t, home)
			})
		}
	}
	t.Logf("rig: cases=%d bad=0; moves of a queue cut off at each operation on files", cases)
}

// TestAHeadStaysInADatabase: what ferrus found out of a task, and the issue that it was made of, which is one task.
func TestAHeadStaysInADatabase(t *testing.T) {
	home, other := computers(t)
	const url = "https://github.com/me/p/issues/42"
	it, err := queue.PutIssue(home, "issue-42", "priority: 1\n\nDo it.", url)
	must(t, err)
	clash := queue.Conflict{Work: "0123456789abcdef", Branch: "a", Paths: "a.txt"}
	must(t, queue.Change(it, func(text string, h queue.Head) (string, queue.Head) { h.Conflict = clash; return text, h }))
	found, err := queue.Find(other, "issue-42")
	if err != nil || found.Issue != url || found.Conflict != clash || found.Priority != 0 || found.Text != "priority: 1\n\nDo it." {
		t.Errorf("%+v, %v", found, err)
	}
	if again, err := queue.PutIssue(other, "issue-42", "Do it.", url); again.Name != "" || err != nil {
		t.Errorf("it is added again: %+v, %v", again, err)
	}
	c, err := queue.Take(t.Context(), found)
	must(t, err)
	if c.Issue != url || c.Conflict != clash {
		t.Errorf("%+v is taken", c.Item)
	}
	must(t, errors.Join(c.Done(), c.Close()))
	if again, err := queue.PutIssue(other, "issue-42", "Do it.", url); again.Name != "" || err != nil {
		t.Errorf("it was taken and is added again: %+v, %v", again, err)
	}
}

// TestAHeadIsTheBeginningOfATask, never with half a character; the whole text is read when the task is taken.
func TestAHeadIsTheBeginningOfATask(t *testing.T) {
	home, _ := computers(t)
	for pad := range 4 {
		text := strings.Repeat("a", pad) + strings.Repeat("€", 10_000)
		it, err := queue.Put(home, fmt.Sprintf("long-%d", pad), text)
		must(t, err)
		_, err = queue.Put(home, fmt.Sprintf("short-%d", pad), "Do it.")
		must(t, err)
		list, err := queue.Heads(home)
		must(t, err)
		for _, head := range list {
			switch head.Name {
			case it.Name:
				if n := len(head.Text); !strings.HasPrefix(text, head.Text) || n < 4000 || n > 5000 {
					t.Errorf("the beginning has %d bytes: %.20q…", n, head.Text)
				}
				if again, err := queue.Heads(home); err != nil || !again[slices.IndexFunc(again, head.Same)].Same(head) {
					t.Errorf("it is another one: %v", err)
				}
				must(t, queue.Replace(head, text+"."))
				if again, err := queue.Heads(home); err != nil || slices.ContainsFunc(again, head.Same) {
					t.Errorf("it was changed and is the same: %v", err)
				}
				c, err := queue.Take(t.Context(), head)
				must(t, err)
				if c.Text != text+"." {
					t.Errorf("the text that was taken has %d bytes", len(c.Text))
				}
				must(t, errors.Join(c.Done(), c.Close()))
			case fmt.Sprintf("short-%d", pad):
				if head.Text != "Do it." {
					t.Errorf("the text is %q", head.Text)
				}
			}
		}
	}
}

// TestATextThatIsTooLongIsNotShortened, also if a limit would cut it in a character: something else than ferrus has written it.
func TestATextThatIsTooLongIsNotShortened(t *testing.T) {
	home, _ := computers(t)
	put(t, home, "a", "Do it.")
	at, err := project.At(filepath.Dir(home), "").Shared()
	must(t, err)
	_, err = postgrestest.Connect(t, at.URL).Exec(t.Context(), "update ferrus.queue set text = $1", []byte(strings.Repeat("a", store.MaxDoc-1)+"€€"))
	must(t, err)
	list, err := queue.List(home)
	if invalid := (*queue.InvalidError)(nil); !errors.As(err, &invalid) || len(list) != 0 {
		t.Errorf("%d tasks wait, %v", len(list), err)
	}
}
