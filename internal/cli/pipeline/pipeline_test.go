package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// TestNoPipelineHasTheNameOfAVerb: ferrus pipeline NAME TOPIC could not start it.
func TestNoPipelineHasTheNameOfAVerb(t *testing.T) {
	const one = `{%q: {"phases": [{"id": "all", "workers": [{"role": "worker", "final": true, "task": "Work"}]}]}}`
	if _, err := workflow.Parse(fmt.Appendf(nil, one, "research")); err != nil {
		t.Fatal(err)
	}
	for _, c := range Command(&cli.App{}).Commands() {
		if _, err := workflow.Parse(fmt.Appendf(nil, one, c.Name())); err == nil || !strings.Contains(err.Error(), "reserved") {
			t.Errorf("a pipeline may be called %s: %v", c.Name(), err)
		}
	}
}

// TestHowARunEndsIsItsExitCode: 0 delivered, 1 failed or cancelled, 6 a person is needed.
func TestHowARunEndsIsItsExitCode(t *testing.T) {
	waits := pipeline.Action{Do: pipeline.Wait, Person: true}
	for _, c := range []struct {
		status pipeline.Status
		act    pipeline.Action
		want   int
	}{
		{pipeline.Status{State: pipeline.IsCompleted, ResultDelivered: true}, pipeline.Action{Do: pipeline.Archive}, cli.ExitOK},
		{pipeline.Status{State: pipeline.IsCancelled}, pipeline.Action{Do: pipeline.Archive}, cli.ExitFailure},
		{pipeline.Status{State: pipeline.IsFailed}, waits, cli.ExitFailure},
		{pipeline.Status{State: pipeline.IsPaused}, waits, cli.ExitPerson},
		{pipeline.Status{State: pipeline.IsDelivering}, waits, cli.ExitPerson},
		{pipeline.Status{State: pipeline.IsRunning}, pipeline.Action{Do: pipeline.Wait}, cli.ExitFailure},
	} {
		if got := exitOf(c.status, c.act); got != c.want {
			t.Errorf("%s exits with %d, not %d", c.status.State, got, c.want)
		}
	}
}
