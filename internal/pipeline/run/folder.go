package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/slot"
)

// What is in the folder of a run, beside what its workers write.
const (
	workflowFile = "workflow.json"      // the definition as it was at the launch
	statusFile   = "status.json"        // how it stands; the end of the journal in another form
	journalFile  = "journal.jsonl"      // all that was ever done about it, a line each
	lockFile     = "status.lock"        // held for a tick
	intentFile   = "intent.json"        // what a person asks for
	deliveryFile = "delivery.json"      // made once, by whoever delivers
	deliveryLock = "delivery.lock"      // held by whoever delivers
	finalFile    = "final.md"           // the result
	baseFile     = "dialogue.base.json" // our own copy of dialogue.json
	lookedFile   = "looked.json"        // when a tick last looked
	toldFile     = "told"               // up to which line a person was told
	toldLock     = "told.lock"

	workersDir  = "workers"  // <role>.lock and <role>.jsonl: who lives, and how they ended
	promptsDir  = "prompts"  // <role>.txt: what they were told
	logsDir     = "logs"     // what they said
	keptDir     = "kept"     // copies of what is done
	attemptsDir = "attempts" // <role>.<n>/: what counts no more
)

// A Folder is one run.
type Folder struct {
	Dir      string // absolute
	Workflow pipeline.Workflow
	Settings Settings

	mu   sync.Mutex
	sums map[string]sum // of outputs, by name
}

// Name is the name of the run.
func (f *Folder) Name() string { return filepath.Base(f.Dir) }

// Path is the path of a file of the run.
func (f *Folder) Path(name ...string) string {
	return filepath.Join(append([]string{f.Dir}, name...)...)
}

// Slot is the place of a worker's process.
func (f *Folder) Slot(role string) slot.Slot { return slot.Slot(f.Path(workersDir, role+".lock")) }

func (f *Folder) runs(role string) string { return f.Path(workersDir, role+".jsonl") }

// Runs returns the attempts of a worker, the newest last.
func (f *Folder) Runs(role string) ([]slot.Run, error) { return slot.Runs(f.runs(role)) }

// Prompt returns what a worker was told, "" when it was not started.
func (f *Folder) Prompt(role string) (string, error) {
	text, err := os.ReadFile(f.Path(promptsDir, role+".txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// replace makes a file anew in one step: who reads it sees the old one or the new one. What lies in the way of the
// temporary file goes, be it a link that somebody has laid.
func replace(path string, data []byte, mode fs.FileMode) error {
	tmp := path + ".new"
	_ = os.Remove(tmp)
	file, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp) // it may be what fills the disk
	}
	return err
}

// durably is replace for what must survive a power cut.
func durably(path string, data []byte, mode fs.FileMode) error {
	if err := replace(path, data, mode); err != nil {
		return err
	}
	return errors.Join(synced(path), synced(filepath.Dir(path)))
}

// synced brings a file, or the names in a folder, to the disk.
func synced(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

// slurp reads a regular file; a link, a pipe and a folder are none. Nil without an error is no file.
func slurp(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// digest is the SHA-256 of a text, "" when there is none.
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
