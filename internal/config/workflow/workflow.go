// Package workflow reads and validates workflows.json, the definitions of pipelines. It decides
// nothing about their runs.
package workflow

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// Workflows are the pipelines of a workflows.json, in the order of the file.
type Workflows []Workflow

// A Workflow is the definition of one pipeline. Zero values are omitted keys; the methods return
// their defaults.
type Workflow struct {
	Name        string  `json:"-"`
	Description string  `json:"description,omitempty"`
	Spawn       Spawn   `json:"spawn,omitempty"`
	DeliverBy   string  `json:"deliver_by,omitempty"`
	SentMarker  string  `json:"sent_marker,omitempty"`
	Watchdog    *bool   `json:"watchdog,omitempty"`
	MaxParallel int     `json:"max_parallel,omitempty"`
	Notify      *bool   `json:"notify,omitempty"`
	Phases      []Phase `json:"phases"`
}

// A Phase is a step of a pipeline.
type Phase struct {
	ID         string   `json:"id"`
	Mode       Mode     `json:"mode,omitempty"`
	PauseAfter bool     `json:"pause_after,omitempty"`
	MaxRounds  int      `json:"max_rounds,omitempty"`
	Workers    []Worker `json:"workers"`
}

// A Worker is an agent or a command that writes one file. Agent and Model are not checked here.
type Worker struct {
	Role          string   `json:"role"`
	Agent         string   `json:"agent,omitempty"`
	Model         string   `json:"model,omitempty"`
	Run           string   `json:"run,omitempty"`     // a command of the shell, in place of an agent
	OKExit        []int    `json:"ok_exit,omitempty"` // of the command, besides 0
	Timeout       int      `json:"timeout,omitempty"` // seconds
	Wait          int      `json:"wait,omitempty"`    // seconds
	Final         bool     `json:"final,omitempty"`
	Reads         []string `json:"reads,omitempty"`
	Output        string   `json:"output,omitempty"`
	MinBytes      int64    `json:"min_bytes,omitempty"`
	Retries       int      `json:"retries,omitempty"`
	AcceptPartial bool     `json:"accept_partial,omitempty"`
	Asks          bool     `json:"asks,omitempty"` // it may ask a person
	Task          string   `json:"task,omitempty"`
}

// Spawn says when workers start.
type Spawn string

const (
	SpawnPhase Spawn = "phase"
	SpawnAll   Spawn = "all"
)

// Mode says how the workers of a phase work together.
type Mode string

const (
	Parallel   Mode = "parallel"
	Sequential Mode = "sequential"
	Talking    Mode = "dialogue"
)

const (
	byOrchestrator = "orchestrator"
	byTerminal     = "terminal"
)

// Schema is the JSON schema of workflows.json, for editors.
//
//go:embed schema.json
var Schema []byte

// Parse reads a workflows.json. The error is Faults: all mistakes, each with its JSON pointer.
func Parse(data []byte) (Workflows, error) {
	t, faults := jsonx.Parse(data)
	if faults != nil {
		return nil, faults
	}
	if !t.Root.Is('{') {
		t.AddFault("", "it is "+t.Root.Kind()+", not an object", "write {\"name\": {\"phases\": […]}}")
		return nil, t.Faults.OrNil()
	}
	if len(t.Root.Keys) == 0 {
		t.AddFault("", "it has no pipeline", "add one, as \"research\": {\"phases\": […]}")
	}
	var all Workflows
	for i, name := range t.Root.Keys {
		at, n := "/"+jsonx.Escape(name), t.Root.Items[i]
		checkWorkflow(&t, n, at, "a pipeline", pipelineKeys)
		w := Workflow{Name: name}
		if json.Unmarshal(n.Raw, &w) == nil { // else a fault says already what is of the wrong type
			checkRules(&t, w, at)
		}
		all = append(all, w)
	}
	sameButCase(t.Root.Keys, func(i int, name, other string) {
		t.AddFault("/"+jsonx.Escape(name), fmt.Sprintf("the pipeline %s differs from %s in case only", name, other), "rename one of them")
	})
	if err := t.Faults.OrNil(); err != nil {
		return nil, err
	}
	return all, nil
}

// Encode returns the workflow as a workflows.json of its own: the copy in a run's folder.
func (w Workflow) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]Workflow{w.Name: w})
	return b.Bytes(), err
}

// Find returns the workflow of that name.
func (ws Workflows) Find(name string) (Workflow, bool) {
	i := slices.IndexFunc(ws, func(w Workflow) bool { return w.Name == name })
	if i < 0 {
		return Workflow{}, false
	}
	return ws[i], true
}
