package run

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Files in the folder of a run, besides the output of its workers.
const (
	workflowFile  = "workflow.json"      // the definition as it was at the launch
	statusFile    = "status.json"        // how it stands; the end of the journal in another form
	journalFile   = "journal.jsonl"      // all that was ever done about it, a line each
	lockFile      = "status.lock"        // held for a tick
	intentFile    = "intent.json"        // what a person asks for
	deliveryFile  = "delivery.json"      // made once, by the sender
	deliveryLock  = "delivery.lock"      // held by the sender
	finalFile     = "final.md"           // the result
	baseFile      = "dialogue.base.json" // our own copy of dialogue.json
	questionsFile = "questions.json"     // what workers asked a person, and the answers
	questionsLock = "questions.lock"     // held to add to it
	lookedFile    = "looked.json"        // when a tick last looked
	toldFile      = "told"               // up to which line a person was told
	toldLock      = "told.lock"

	workersDir  = "workers"  // <role>.lock and <role>.jsonl: who lives, and how they ended
	promptsDir  = "prompts"  // <role>.txt: what they were told
	logsDir     = "logs"     // what they said
	keptDir     = "kept"     // copies of what is done
	attemptsDir = "attempts" // <role>.<n>/: what counts no more
)

// A Folder is the folder of one run.
type Folder struct {
	Dir      string // absolute path
	Workflow workflow.Workflow
	Settings Settings
	Origin   *Origin // nil for a run that was started anew

	mu   sync.Mutex
	sums map[string]sum // of outputs, by name
}

// Name returns the name of the run.
func (f *Folder) Name() string { return filepath.Base(f.Dir) }

// Path returns the path of a file of the run.
func (f *Folder) Path(name ...string) string {
	return filepath.Join(append([]string{f.Dir}, name...)...)
}

// Slot returns the slot of a worker's process.
func (f *Folder) Slot(role string) process.Slot {
	return process.Slot(f.Path(workersDir, role+".lock"))
}

func (f *Folder) runs(role string) string { return f.Path(workersDir, role+".jsonl") }

// Runs returns the attempts of a worker, the newest last.
func (f *Folder) Runs(role string) ([]process.Run, error) { return process.Runs(f.runs(role)) }

// Prompt returns the prompt of a worker, "" when it was not started.
func (f *Folder) Prompt(role string) (string, error) {
	text, err := f.slurp(promptsDir, role+".txt")
	return string(text), err
}

// digest returns the SHA-256 of a text, "" when there is none.
func digest(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	d := sha256.Sum256(data)
	return hex.EncodeToString(d[:])
}

func digestOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
