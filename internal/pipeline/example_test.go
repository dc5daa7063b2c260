package pipeline_test

import (
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// The files of a run and the locks of its workers are the facts. The status is
// reconciled with them, and the table says what to do next.
func ExampleDecide() {
	workflows, err := workflow.Parse([]byte(`{"notes": {"phases": [
		{"id": "draft", "workers": [{"role": "writer", "task": "Write."}]},
		{"id": "edit", "workers": [{"role": "editor", "task": "Edit.", "reads": ["writer.md"], "final": true}]}
	]}}`))
	if err != nil {
		panic(err)
	}
	w, _ := workflows.Find("notes")
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	facts := pipeline.Facts{
		Workflow: w,
		Status:   pipeline.New(w, "notes-150405", "tea", now),
		Files:    map[string]pipeline.File{},
		Workers:  map[string]pipeline.Seen{},
		Now:      now,
	}
	fmt.Println("at the start:", pipeline.Decide(facts))

	facts.Workers["writer"] = pipeline.Seen{Alive: true, Attempt: 1, Spawned: now, Began: now}
	facts.Status = pipeline.Reconcile(facts)
	fmt.Println("it works:    ", pipeline.Decide(facts).Do)

	facts.Workers["writer"] = pipeline.Seen{Attempt: 1, Spawned: now, Began: now, Exited: true}
	facts.Files["writer.md"] = pipeline.File{Bytes: 5, SHA256: "c0", Settled: true}
	facts.Status = pipeline.Reconcile(facts)
	fmt.Println("it is done:  ", pipeline.Decide(facts))
	// Output:
	// at the start: spawn writer
	// it works:     wait
	// it is done:   complete phase
}
