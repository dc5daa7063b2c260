package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A waited context says when somebody begins to wait for its end, among others.
type waited struct {
	context.Context
	begun chan struct{}
}

func (c waited) Done() <-chan struct{} {
	select {
	case c.begun <- struct{}{}:
	default:
	}
	return c.Context.Done()
}

// TestTheFirstOfAKindIsNoticed: the folders of branches, runs and the queue are not there when the watching starts, and each is watched
// as soon as it is. Every step is reported, as one about its part, before the rest of a minute, after which the watcher looks in any case.
func TestTheFirstOfAKindIsNoticed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := At(root, "").Dir()
	branch := filepath.Join(own, "branches", "one")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	run := filepath.Join(own, "pipeline-tmp", "nightly-1")
	w := NewWatcher(root)
	for _, step := range []struct {
		what, part string
		early      bool // before the next call watches anything
		do         func() error
	}{
		{"the first branch", "one", false, func() error {
			draft := filepath.Join(own, "draft")
			return errors.Join(os.MkdirAll(draft, 0o700), os.Mkdir(filepath.Dir(branch), 0o700), write(filepath.Join(draft, "journal.jsonl"), "{}")(),
				write(filepath.Join(draft, "STATE.json"), "{}")(), os.Rename(draft, branch))
		}},
		{"its first change", "one", true, write(filepath.Join(branch, "STATE.json"), "{ }")},
		{"a question there", "one", false, write(filepath.Join(branch, "STATE.json"), "{  }")},
		{"the folder of its sessions", "", true, func() error { return os.Mkdir(filepath.Join(branch, "live"), 0o700) }},
		{"a session there", "one", false, write(filepath.Join(branch, "live", "s1"), "")},
		{"its end", "one", false, func() error { return os.Remove(filepath.Join(branch, "live", "s1")) }},
		{"a task of the project", "", false, write(filepath.Join(own, "STATE.json"), "{}")},
		{"the folder of the queue", QueueSign, true, func() error { return os.Mkdir(filepath.Join(own, "queue"), 0o700) }},
		{"a task that waits", QueueSign, false, write(filepath.Join(own, "queue", "a.md"), "a")},
		{"the first run of a pipeline", RunSign + "nightly-1", false, func() error { return os.MkdirAll(run, 0o700) }},
		{"its status", RunSign + "nightly-1", false, write(filepath.Join(run, "status.json"), "{}")},
		{"its end", RunSign + "nightly-1", false, func() error { return os.RemoveAll(run) }},
	} {
		told := make(chan error, 1)
		ctx := waited{t.Context(), make(chan struct{}, 1)}
		if step.early {
			err = step.do()
		}
		if step.what == "the folder of its sessions" {
			continue // it alone changes nothing
		}
		go func() {
			var parts []string
			var err error
			for !slices.Contains(parts, step.part) && err == nil {
				parts, err = w.Changed(ctx)
			}
			told <- err
		}()
		if !step.early {
			<-ctx.begun
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
	if err := os.WriteFile(filepath.Join(own, "STATE.lock"), nil, 0o600); err != nil || w.changed() != nil {
		t.Errorf("%v: a lock is reported as a change", err)
	}
}
