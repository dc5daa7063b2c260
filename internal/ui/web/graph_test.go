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

// TestAQueueIsDrawn where a task needs another one, whose column is before its own.
func TestAQueueIsDrawn(t *testing.T) {
	list := []status.QueuedTask{{Name: "d", Needs: []string{"b", "c"}, Waits: "waits for b"}, {Name: "b", Needs: []string{"a"}}, {Name: "c", Needs: []string{"a"}, Waits: "no", Blocked: true}}
	want := &graph{Width: 682, Height: 104, Words: "a not in the queue; b in the queue, needs a; c blocked, needs a; d waits, needs b and c",
		Workers: []box{{0, 0, 190, 46, "a", "not in the queue"}, {246, 0, 190, 46, "b", "in the queue"}, {246, 58, 190, 46, "c", "blocked"}, {492, 0, 190, 46, "d", "waits"}},
		Arrows:  []string{"M190 23C218 23 218 23 246 23", "M190 23C218 23 218 81 246 81", "M436 23C464 23 464 23 492 23", "M436 81C464 81 464 23 492 23"}}
	if diff := cmp.Diff(want, needed(status.GraphOf(list))); diff != "" {
		t.Error(diff)
	}
	if got := needed(status.GraphOf([]status.QueuedTask{{Name: "a"}})); got != nil {
		t.Errorf("nothing is needed: %+v", got)
	}
	circle := status.GraphOf([]status.QueuedTask{{Name: "a", Needs: []string{"b"}}, {Name: "b", Needs: []string{"a"}}})
	if got := needed(circle); len(got.Workers) != 2 {
		t.Errorf("a circle is %+v", got)
	}
}
