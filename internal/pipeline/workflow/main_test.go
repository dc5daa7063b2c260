package workflow

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files and the documentation anew")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s is stale (%v); go test ./internal/pipeline/workflow -update writes it\n%s", path, err, cmp.Diff(string(want), got))
	}
}

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

// workers makes a pipeline of phases: each is its keys, and its workers by role and further keys.
func workers(keys string, phases ...string) string {
	return `{"p": {` + keys + `"phases": [` + strings.Join(phases, ",") + `]}}`
}

// ph is a phase: its id, further keys, and workers.
func ph(id, keys string, list ...string) string {
	return `{"id": "` + id + `"` + keys + `, "workers": [` + strings.Join(list, ",") + `]}`
}

// wk is a worker with further keys.
func wk(role, keys string) string { return `{"role": "` + role + `", "task": "do"` + keys + `}` }

const final = `, "final": true`

func reads(files ...string) string {
	list, _ := json.Marshal(files)
	return `, "reads": ` + string(list)
}
