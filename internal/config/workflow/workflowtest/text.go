// Package workflowtest makes the text of a workflows.json for tests, part by part.
package workflowtest

import (
	"encoding/json"
	"strings"
)

// Final are the keys of a worker that makes the result.
const Final = `, "final": true`

// Pipeline makes the one pipeline "p" of a file: its further keys, each with a comma behind it, and its phases.
func Pipeline(keys string, phases ...string) string {
	return `{"p": {` + keys + `"phases": [` + strings.Join(phases, ",") + `]}}`
}

// Phase makes a phase: its id, further keys, and workers.
func Phase(id, keys string, list ...string) string {
	return `{"id": "` + id + `"` + keys + `, "workers": [` + strings.Join(list, ",") + `]}`
}

// Worker makes a worker with further keys.
func Worker(role, keys string) string { return `{"role": "` + role + `", "task": "do"` + keys + `}` }

// Reads makes the key of a worker that names the files which it reads.
func Reads(files ...string) string {
	list, _ := json.Marshal(files)
	return `, "reads": ` + string(list)
}
