package status

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/projecttest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestACheckWhoseServerHasGoneReadsAsAbandoned, and so the task waits for its executor and not for a check.
func TestACheckWhoseServerHasGoneReadsAsAbandoned(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte("[checks]\ncommands = [\"sleep 60\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sharedtest.Init(t, dir)
	open := func(now func() time.Time) *engine.Engine {
		e, err := engine.Open(project.At(dir, ""), engine.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	server := open(func() time.Time { return time.Now().Add(-time.Minute) })
	if _, err := server.Session(engine.Caller{Role: state.Human, Agent: "human"}).CreateTask(t.Context(), "one", ""); err != nil {
		t.Fatal(err)
	}
	executor := server.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:1"})
	if _, _, err := executor.AwaitTask(t.Context(), time.Second, true); err != nil {
		t.Fatal(err)
	}
	for !checks.Running(server.Place().Path("live", "check.lock")) {
		if out, err := executor.Check(t.Context(), 10*time.Millisecond); err != nil || out.Status != state.CheckRunning {
			t.Fatalf("%s: %v", out.Status, err)
		}
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	person := open(nil)
	defer person.Close()
	bell := person.Store().Watch()
	defer bell.Close()
	late := time.After(kit.Patience)
	for {
		r, err := Read(person)
		if err != nil {
			t.Fatal(err)
		}
		if r.Check.Status == state.CheckAbandoned && r.Waiting.For == "executor" {
			return
		}
		select {
		case <-bell.C: // the helper takes a moment to end
		case <-late:
			t.Fatalf("the check is %s and the task waits for %s", r.Check.Status, r.Waiting.For)
		}
	}
}

// TestTheTaskAloneIsReadWithoutTheProject: commands that show only the next steps do not read branches and queue.
func TestTheTaskAloneIsReadWithoutTheProject(t *testing.T) {
	dir := projecttest.New(t, "alt")
	home := project.At(dir, "").Dir()
	for _, name := range []string{"b", "a"} {
		if _, err := queue.Put(home, name, "\n\nTitle of "+name+"\u200b\n\nMore.\n"); err != nil {
			t.Fatal(err)
		}
	}
	waiting := []QueuedTask{{Name: "b", Title: "Title of b<U+200B>"}, {Name: "a", Title: "Title of a<U+200B>"}}
	shown := func(list []QueuedTask) (text string) {
		for _, t := range list {
			text += t.Name + ": " + t.Title + "\n"
		}
		return text
	}
	for _, tt := range []struct {
		branch string
		read   func(*engine.Engine) (*Report, error)
		want   Report
	}{
		{"", Read, Report{}},
		{"", ReadAll, Report{Branches: []string{"alt"}, Queue: waiting}},
		{"alt", ReadAll, Report{}},
	} {
		e, err := engine.Open(project.At(dir, tt.branch), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if r, err := tt.read(e); err != nil || !slices.Equal(r.Branches, tt.want.Branches) || shown(r.Queue) != shown(tt.want.Queue) {
			t.Errorf("of branch %q: %v %v, %v", tt.branch, r.Branches, r.Queue, err)
		}
	}
}
