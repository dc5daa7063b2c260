// Package project creates projects for tests, with branches and tasks, and without git.
package projecttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// New makes a project without git, and opens its machines.
func New(t testing.TB, branches ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte("[checks]\ncommands = [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Init(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range branches {
		p := project.At(dir, name)
		s, _, err := file.Create(p.Dir(), file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := os.MkdirAll(p.Work, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sharedtest.Move(t, dir)
	return dir
}

// Task makes a task in a machine, after it has given up the one before.
func Task(t testing.TB, p project.Place, text string) string {
	t.Helper()
	e, err := engine.Open(p, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	if now, err := e.View(); err != nil || now.Task.TaskID != "" {
		if _, err := s.Reset(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	done, err := s.CreateTask(t.Context(), text, "")
	if err != nil {
		t.Fatal(err)
	}
	return done.Task.TaskID
}
