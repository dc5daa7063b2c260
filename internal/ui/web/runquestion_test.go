package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/test/kit"
)

// asking is a run of a pipeline of which a worker has asked a person.
func asking(t *testing.T, m *enginetest.Machine) (run.Place, *run.Folder) {
	t.Helper()
	all, err := workflow.Parse([]byte(`{"survey": {"phases": [{"id": "all", "workers": [{"role": "writer", "task": "Write", "asks": true, "final": true}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	place := run.At(m.Dir, config.Default().Pipelines)
	f, err := place.Launch(all[0], "markets", place.Settings(config.Default()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	started := enginetest.Must(json.Marshal(process.Run{Name: "writer-1", Duty: "writer", Log: "agent-writer-1.log", Started: time.Now()}))(t)
	if err := os.WriteFile(filepath.Join(f.Dir, "workers", "writer.jsonl"), append(started, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	d := enginetest.Must(f.WorkerSession("writer", 1))(t)
	enginetest.Must(d.Ask(t.Context(), "Which market?\n\n1. Europe\n2. Asia\n", time.Now()))(t)
	return place, f
}

// TestAWorkerOfAPipelineIsAnsweredOnItsPage: the first page says that it asks, the page of the run has the question and a form.
func TestAWorkerOfAPipelineIsAnsweredOnItsPage(t *testing.T) {
	t.Parallel()
	m := made(t)
	_, f := asking(t, m)
	b := browse(t, m)
	b.has("/", "Which market?")
	page := b.has("/run/"+f.Name(), "q1 from writer", "Which market?", "2. Asia")
	answer := with(form(t, page, "answer"), "f.answer", "2")
	if shown := b.do("/act", answer); !strings.Contains(shown, "done.") {
		t.Errorf("%s", shown)
	}
	list := enginetest.Must(f.Questions())(t)
	if len(list) != 1 || list[0].Answer != "2. Asia" || list[0].By != "human" {
		t.Errorf("%+v", list)
	}
	b.refused("/act", answer, http.StatusConflict, "no longer possible")
	b.has("/run/"+f.Name(), "!q1 from writer")
}

// TestARunIsCancelledOnItsPage, once the person has said that they are sure: by a process of its own, which asks nothing.
func TestARunIsCancelledOnItsPage(t *testing.T) {
	t.Parallel()
	m := made(t)
	place, f := asking(t, m)
	b := browse(t, m)
	cancel := form(t, b.get("/run/"+f.Name()), "cancel")
	cancel.Del("sure")
	if page := read(t, b.send("POST", "/act", cancel, nil)); !strings.Contains(page, "The run and its workers end") {
		t.Errorf("nothing was asked:\n%s", page)
	}
	b.do("/act", with(cancel, "sure", "yes"))
	kit.Eventually(t, "the run is archived", func() bool {
		over, err := place.Archived()
		return err == nil && slices.Contains(over, f.Name())
	})
	if s := enginetest.Must(enginetest.Must(place.Open(f.Name()))(t).Status())(t); s.State != pipeline.IsCancelled {
		t.Errorf("it is %s", s.State)
	}
	b.refused("/act", with(cancel, "sure", "yes"), http.StatusConflict, "no longer possible")
}

// TestTheQueueIsKeptOnTheFirstPage: a task is added, gets another text, which begins with the one that it has, and is removed.
func TestTheQueueIsKeptOnTheFirstPage(t *testing.T) {
	t.Parallel()
	m := made(t)
	b := browse(t, m)
	if page := b.do("/act", with(form(t, b.get("/"), "queue"), "f.task", "Add a flag.\n\nAll of it.")); !strings.Contains(page, "add-a-flag waits; 1 task is in the queue") {
		t.Errorf("%s", page)
	}
	replace := form(t, b.has("/", "Add a flag.\n\nAll of it."), "requeue")
	b.do("/act", with(replace, "f.task", "Add two flags."))
	b.has("/", "Add two flags.", "!All of it.")
	m.Write(".ferrus/queue/next.md", "needs: nothing, add-a-flag\n\nUse both.")
	blocked := form(t, b.has("/", "In the queue next is blocked: needs nothing, and there is no such task", "Take it without nothing"), "drop-need")
	b.do("/act", blocked)
	b.has("/", "waits for add-a-flag, which is in the queue", "!Take it without")
	b.refused("/act", blocked, http.StatusConflict, "no longer possible")
	remove := form(t, b.get("/"), "dequeue")
	b.do("/act", with(remove, "sure", "yes"))
	b.has("/", "!Add two flags.")
	b.refused("/act", remove, http.StatusConflict, "no longer possible")
	b.refused("/act", with(replace, "f.task", "Add three."), http.StatusConflict, "no longer possible")
}
