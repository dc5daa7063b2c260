package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// TestAWorkerOfAPipelineIsAnsweredOnItsPage: the first page says that it asks, the page of the run has the question and a form.
func TestAWorkerOfAPipelineIsAnsweredOnItsPage(t *testing.T) {
	t.Parallel()
	m := made(t)
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
	b := browse(t, m)
	b.has("/", "writer asks: Which market?")
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
