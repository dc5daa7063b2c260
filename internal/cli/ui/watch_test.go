package ui

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
)

// TestTheFirstOfAKindIsNoticed: the folders of branches and of the queue are not there when the screen starts, and each is watched
// as soon as it is. Every step is reported before the rest of a minute, after which the screen looks in any case.
func TestTheFirstOfAKindIsNoticed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := project.At(root, "").Dir()
	branch := filepath.Join(own, "branches", "one")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	w := newWatcher(root)
	for _, step := range []struct {
		what  string
		early bool // before the next call watches anything
		do    func() error
	}{
		{"the first branch", false, func() error {
			draft := filepath.Join(own, "draft")
			return errors.Join(os.MkdirAll(draft, 0o700), os.Mkdir(filepath.Dir(branch), 0o700), write(filepath.Join(draft, "journal.jsonl"), "{}")(),
				write(filepath.Join(draft, "STATE.json"), "{}")(), os.Rename(draft, branch))
		}},
		{"its first change", true, write(filepath.Join(branch, "STATE.json"), "{ }")},
		{"a question there", false, write(filepath.Join(branch, "STATE.json"), "{  }")},
		{"the folder of the queue", true, func() error { return os.Mkdir(filepath.Join(own, "queue"), 0o700) }},
		{"a task that waits", false, write(filepath.Join(own, "queue", "a.md"), "a")},
	} {
		told := make(chan error, 1)
		if step.early {
			err = step.do()
		}
		go func() { told <- w.Changed(t.Context()) }()
		if !step.early {
			err = step.do()
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-told:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(atLeast / 2):
			t.Fatalf("%s was not reported", step.what)
		}
	}
	// What reading leaves behind is no change.
	if err := os.WriteFile(filepath.Join(own, "STATE.lock"), nil, 0o600); err != nil || w.changed() {
		t.Errorf("%v: a lock is reported as a change", err)
	}
}
