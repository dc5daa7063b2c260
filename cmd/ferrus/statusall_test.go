package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// alone makes a project without git, and opens its machines.
func alone(t *testing.T, branches ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte("[checks]\ncommands = [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Init(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range branches {
		p := engine.At(dir, name)
		s, _, err := store.Create(p.Dir(), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := os.MkdirAll(p.Work, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tasked makes a task in a machine, after it has given up the one before.
func tasked(t *testing.T, p engine.Place, text string) string {
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

// TestTheOverviewHasEveryMachine: the project's own and the branches, each with what it has archived, newest first, and one
// that cannot be read takes no other with it.
func TestTheOverviewHasEveryMachine(t *testing.T) {
	dir := alone(t, "alt", "bad")
	own, alt := engine.At(dir, ""), engine.At(dir, "alt")
	first, second := tasked(t, own, "first"), tasked(t, alt, "second")
	tasked(t, own, "third")
	tasked(t, alt, "fourth")
	if err := os.Mkdir(filepath.Join(own.Dir(), "branches", "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own.Dir(), "branches", "bad", "journal.jsonl"), []byte("no line\nat all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &app{out: &out, err: &out}
	v, err := a.survey(dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Machines {
		got = append(got, strings.TrimSpace(m.Branch+" "+m.Title+" "+string(m.State)))
	}
	if want := []string{"third Executing", "alt fourth Executing", "bad"}; !slices.Equal(got, want) || v.Machines[2].Error == "" {
		t.Errorf("there are %q", got)
	}
	got = nil
	for _, x := range v.Archived {
		got = append(got, strings.TrimSpace(x.Branch+" "+x.TaskID+" "+x.Title+" "+x.outcome()))
	}
	slices.Sort(got) // their order has a test of its own: these may have ended in one millisecond
	if want := []string{"alt " + second + " second given up", first + " first given up"}; !slices.Equal(got, want) {
		t.Errorf("archived are %q, not %q", got, want)
	}
	a.showOverview(v)
	for _, words := range []string{"project ", "\nalt ", "\nbad ", "cannot be read", "(alt)"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("no %q in\n%s", words, out.String())
		}
	}
	if v, err := a.survey(dir, 1); err != nil || len(v.Archived) != 1 || v.More != 1 {
		t.Errorf("%+v: %v", v, err)
	}
}

func TestArchivedTasksOfOneSecondAreNewestFirst(t *testing.T) {
	at := func(ms int) time.Time { return time.Date(2026, 1, 2, 3, 4, 5, ms*1e6, time.UTC) }
	list := []ended{
		{TaskID: "t-20260102-030405-bbbb", At: at(1)},
		{TaskID: "t-20260102-030405-aaaa", At: at(2)},
		{TaskID: "t-20260102-030406-cccc"}, // it cannot be read
	}
	for range 2 {
		slices.Reverse(list)
		got := slices.SortedFunc(slices.Values(list), newestFirst)
		if got[0].At != at(2) || got[1].At != at(1) || !got[2].At.IsZero() {
			t.Errorf("%v", got)
		}
	}
}
