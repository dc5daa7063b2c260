package pipeline

import (
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/config/workflow/workflowtest"
)

var noon = time.Date(2026, 2, 28, 18, 1, 41, 0, time.UTC)

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// flow is the one pipeline of a workflows.json.
func flow(t testing.TB, text string) workflow.Workflow {
	t.Helper()
	all, err := workflow.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func research(t testing.TB) workflow.Workflow {
	return flow(t, string(read(t, "testdata/workflows.json")))
}

// Texts of workflows, by short names.
var (
	workers = workflowtest.Pipeline
	ph      = workflowtest.Phase
	wk      = workflowtest.Worker
	reads   = workflowtest.Reads
)

const final = workflowtest.Final
