package queue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryLeadsTheQueueOutside lays links, FIFOs and huge files in place of all that the queue reads and writes.
func TestNoEntryLeadsTheQueueOutside(t *testing.T) {
	paths := []string{".ferrus", ".ferrus/queue", ".ferrus/queue/a.md", ".ferrus/queue/taken", ".ferrus/queue/taken/a.md", ".ferrus/branches", ".ferrus/branches/a"}
	setup := func(t *testing.T, dir string) {
		home := filepath.Join(dir, ".ferrus")
		lay(t, filepath.Join(home, "queue", "a.md"), "First.")
		lay(t, filepath.Join(home, "queue", "taken", "b.md"), "Long ago.")
		lay(t, filepath.Join(home, "branches", "b", "journal.jsonl"), "")
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		home := filepath.Join(c.Dir, ".ferrus")
		it, err := Put(home, "a", "New.")
		if err == nil {
			err = takes(it)
		}
		list, err2 := List(home)
		for _, it := range list {
			if it.Text != "First." && it.Text != "New." {
				t.Errorf("a task is %.20q", it.Text)
			}
			err = errors.Join(err, takes(it))
		}
		return errors.Join(err, err2, takes(Item{Name: "b", Path: filepath.Join(home, "queue", "b.md"), in: fileQueue{home}}))
	})
}

// TestAHardLinkIsNoTask: the text of a file of yours must not be given to agents because somebody has linked it.
func TestAHardLinkIsNoTask(t *testing.T) {
	home := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	lay(t, secret, "Mine.")
	put(t, home, "good", "Do it.")
	if err := os.Link(secret, filepath.Join(home, "queue", "bad.md")); err != nil {
		t.Skip(err)
	}
	list, err := List(home)
	if len(list) != 1 || list[0].Name != "good" || err == nil || !strings.Contains(err.Error(), "bad.md") || !strings.Contains(err.Error(), "2 names") {
		t.Fatalf("%v, %v", list, err)
	}
	// A put or a taking that was cut off has left a second name in the queue.
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".x.tmp", "taken/good.md"} {
		path := filepath.Join(home, "queue", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Link(list[0].Path, path)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := List(home); len(list) != 2 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}
