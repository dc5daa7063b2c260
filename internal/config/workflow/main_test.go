package workflow

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/workflow/workflowtest"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// flow is the one pipeline of a workflows.json.
func flow(t testing.TB, text string) Workflow {
	t.Helper()
	all, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// Texts of workflows, by short names.
var (
	workers = workflowtest.Pipeline
	ph      = workflowtest.Phase
	wk      = workflowtest.Worker
	reads   = workflowtest.Reads
)

const final = workflowtest.Final
