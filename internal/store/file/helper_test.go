package file

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// noon is the wall clock of tests that compare whole tasks.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func still() Options {
	return Options{Log: quiet, Now: func() time.Time { return noon }}
}

// fresh makes a machine in a new folder.
func fresh(t testing.TB, opts Options) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "we[i]rd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, _, err := Create(filepath.Join(dir, ".ferrus"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reopen opens the folder of s as another process would.
func reopen(t testing.TB, s *Store) *Store {
	t.Helper()
	again, err := Open(s.dir, still())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

// A decision is what Apply asks for.
type decision func(now store.Snapshot) (*store.Change, error)

// on returns the decision to raise ev as by, and to write docs.
func on(ev state.Event, by state.Role, docs map[state.Doc]string, drop ...state.Doc) decision {
	return func(now store.Snapshot) (*store.Change, error) {
		next, err := state.Step(now.Task, ev, by, state.Limits{CheckRetries: 3, ReviewCycles: 3})
		if err != nil {
			return nil, err
		}
		switch ev {
		case state.CreateTask:
			next.TaskID = "t-20260102-120000-abcd"
		case state.Claim:
			next.ClaimedBy, next.Session = "executor:codex:1", "5e55"
		}
		return &store.Change{Actor: store.Actor{Role: by, Agent: string(by) + ":test:1"}, Event: ev, Next: next, Docs: docs, Drop: drop}, nil
	}
}

var (
	create   = on(state.CreateTask, state.Supervisor, map[state.Doc]string{state.TaskDoc: "Build it.\n"})
	claim    = on(state.Claim, state.Executor, nil)
	progress = on(state.Progress, state.Holder, nil)
)

// do applies each decision in turn.
func do(t testing.TB, s *Store, list ...decision) store.Snapshot {
	t.Helper()
	var snap store.Snapshot
	for _, d := range list {
		var err error
		if snap, err = s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	return snap
}

func view(t testing.TB, s *Store) store.Snapshot {
	t.Helper()
	snap, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// events returns the events of the whole journal, which must be sound.
func events(t testing.TB, s *Store) []state.Event {
	t.Helper()
	var list []state.Event
	for l, err := range s.History() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l.Event)
	}
	return list
}

// code returns the code of an error of this package, "" of any other.
func code(err error) refusal.Code {
	var e *refusal.RefusedError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func wantCode(t testing.TB, err error, want refusal.Code, words ...string) {
	t.Helper()
	if code(err) != want {
		t.Fatalf("error %v (code %q), want code %q", err, code(err), want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
