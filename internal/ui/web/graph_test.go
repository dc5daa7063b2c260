package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestARunIsDrawn: phases that follow each other have an arrow, and so has who reads what another writes; who is named twice or unknown has none.
func TestARunIsDrawn(t *testing.T) {
	w := workflow.Workflow{Phases: []workflow.Phase{
		{ID: "read", Workers: []workflow.Worker{{Role: "a", Output: "a.md"}, {Role: "b", Output: "b.md"}}},
		{ID: "write", Workers: []workflow.Worker{{Role: "c", Output: "c.md", Reads: []string{"b.md"}}}},
	}}
	phases := []pipeline.PhaseStatus{
		{ID: "read", Status: pipeline.Completed, Workers: pipeline.Roster{{Role: "a", Status: pipeline.Completed}, {Role: "b", Status: pipeline.Failed}}},
		{ID: "write", Status: pipeline.Running, Workers: pipeline.Roster{{Role: "c", Status: pipeline.Running}}},
	}
	run := func(w workflow.Workflow, phases []pipeline.PhaseStatus) *status.RunStatus {
		l := &status.RunStatus{Status: pipeline.Status{Phases: phases}}
		l.View.Facts.Workflow = w
		return l
	}
	want := graph{Width: 484, Height: 146, Words: "read completed: a completed, b failed; write running: c running",
		Phases:  []box{{0, 0, 214, 146, "read", "completed"}, {270, 0, 214, 88, "write", "running"}},
		Workers: []box{{12, 30, 190, 46, "a", "completed"}, {12, 88, 190, 46, "b", "failed"}, {282, 30, 190, 46, "c", "running"}},
		Arrows:  []string{"M214 15C242 15 242 15 270 15", "M202 111C242 111 242 53 282 53"}}
	if diff := cmp.Diff(want, drawn(run(w, phases))); diff != "" {
		t.Error(diff)
	}
	if got := drawn(run(workflow.Workflow{}, nil)); got.Width != 0 || got.Words != "" {
		t.Errorf("nothing is %+v", got)
	}
}
