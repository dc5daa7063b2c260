package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	slashpath "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Run is the record of one agent from start to end. It has a line for the start and one for the
// end, which replaces the first.
type Run struct {
	Name  string      `json:"run"` // duty-N, unique in its list
	Duty  agents.Duty `json:"duty"`
	Agent string      `json:"agent"` // name of the adapter
	Model string      `json:"model,omitempty"`
	At    int64       `json:"at"`  // length of the journal when it was asked for: what came before it, and what after
	Log   string      `json:"log"` // path of its output

	Sandbox  string `json:"sandbox,omitempty"`      // the mechanism that kept it in; "" for none
	Outside  string `json:"outside,omitempty"`      // why one that can be in a sandbox was in none
	Replaced bool   `json:"git_replaced,omitempty"` // it had replaced the file .git of its work tree, which was put back

	Started  time.Time `json:"started"`
	Launched time.Time `json:"launched,omitzero"` // when one that was held was let go
	Ended    time.Time `json:"ended,omitzero"`
	Exit     int       `json:"exit"`              // status, -1 when a signal ended it
	Signal   string    `json:"signal,omitempty"`  // that ended it
	Error    string    `json:"error,omitempty"`   // why it could not be started, or what became of its shim
	Cut      bool      `json:"cut,omitempty"`     // the conductor ended it, because it made no progress
	Stopped  bool      `json:"stopped,omitempty"` // it was ended through no fault of its own
	Unable   bool      `json:"unable,omitempty"`  // its program is not there or cannot be executed
	GaveUp   bool      `json:"gave_up,omitempty"` // it was held, and what it waited for did not come

	Usage   agents.Usage   `json:"usage,omitzero"`
	Trouble agents.Trouble `json:"trouble,omitempty"`
	Until   time.Time      `json:"until,omitzero"` // when its trouble is over
	Said    string         `json:"said,omitempty"` // its last words, in short
	Client  string         `json:"client_session,omitempty"`

	Node string `json:"node,omitempty"` // the other computer that has started it; "" for this one

	Continues string `json:"continues,omitempty"` // the session of its client that it was started to continue
}

// number returns the number in the run's name.
func (r Run) number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.Name, string(r.Duty)+"-")) // check has read it
	return n
}

// Name returns the name of a run of a duty by its number.
func Name(d agents.Duty, number int) string { return fmt.Sprintf("%s-%d", d, number) }

// Next returns the number of the next run of a duty.
func Next(runs []Run, d agents.Duty) int {
	n := 0
	for _, r := range runs {
		if r.Duty == d {
			n = max(n, r.number())
		}
	}
	return n + 1
}

// Over reports whether the end of the run is known.
func (r Run) Over() bool { return !r.Ended.IsZero() }

// Began reports whether the agent was started at all.
func (r Run) Began() bool { return !r.Over() || r.Error == "" || r.Exit != 0 || r.Signal != "" }

// Lasted returns how long the agent ran, until now if it has not ended.
func (r Run) Lasted(now time.Time) time.Duration {
	if r.Over() {
		now = r.Ended
	}
	return max(0, now.Sub(r.Started))
}

// maxRuns bounds a list of runs, in bytes. A run takes one or two kilobytes of it.
const maxRuns = 64 << 20

// Runs reads a list of runs, in the order of their start. A missing file is an empty list; torn and
// invalid lines are skipped. The log of a run is always in the folder logs beside the list's own
// folder, whatever the line says: the folder may have been moved, and a line must not name other
// files.
func Runs(path string) ([]Run, error) {
	text, err := readFile(path, maxRuns)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	logs := filepath.Join(filepath.Dir(filepath.Dir(path)), logsDir)
	var list []Run
	for line := range bytes.Lines(text) {
		var r Run
		if json.Unmarshal(line, &r) != nil || r.check() != nil {
			continue
		}
		r.Log = filepath.Join(logs, filepath.Base(r.Log))
		if i := slices.IndexFunc(list, func(was Run) bool { return was.Name == r.Name }); i >= 0 {
			list[i] = r
		} else {
			list = append(list, r)
		}
	}
	return list, nil
}

// within creates a folder inside an existing one: a machine that was removed must not reappear.
func within(r *rootfs.Root, name string) error {
	switch err := r.Mkdir(name, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return atomicfile.SyncDir(r, slashpath.Dir(name))
}

// note appends a line to the list, durably: budgets count starts, so none may be lost. Each line is
// one write, so that the lines of two shims do not mix.
func note(path string, r Run) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	root, name, err := rootfs.For(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := within(root, slashpath.Dir(name)); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && !r.Over() && info.Size() > maxRuns/2 { // the ends of all of them fit into the rest
		return fmt.Errorf("the task has had so many agent runs that %s is full: ferrus reset archives the task", path)
	}
	return atomicfile.Append(root, name, append(text, '\n'), 0o600)
}

// maxSaid bounds the recorded last words of an agent, in bytes.
const maxSaid = 600

// read fills in what the run's output reports.
func (r *Run) read() {
	in := Read(*r)
	r.Usage, r.Trouble, r.Until, r.Client = in.Usage, in.Trouble, in.Until, in.Session
	if r.Said = in.Said; len(r.Said) > maxSaid {
		r.Said = string(bytes.ToValidUTF8([]byte(r.Said[:maxSaid]), nil)) + "…"
	}
}

// ShimKilled is the error of a run whose shim was killed before it could record the end.
const ShimKilled = "its shim was killed"

// Settle records the end of runs whose shims were killed before they could: runs without an end
// whose slot is free. It returns the resulting list.
func Settle(path string, of func(agents.Duty) Slot) ([]Run, error) {
	list, err := Runs(path)
	for i, r := range list {
		if r.Over() {
			continue
		}
		if o, taken := of(r.Duty).Taken(); taken && (o.Run == r.Name || o.Run == "") {
			continue
		}
		// It reads again, because the shim may have written meanwhile.
		if again, err := Runs(path); err == nil && len(again) > i && again[i].Over() {
			list[i] = again[i]
			continue
		}
		r.read()
		r.Ended, r.Exit, r.Error = r.Started, -1, ShimKilled
		if info, err := r.LogInfo(); err == nil {
			r.Ended = info.ModTime().UTC() // time of its last output
		}
		if err := note(path, r); err != nil {
			return list, err
		}
		list[i] = r
	}
	return list, err
}

// Portable returns the record of a run as other computers get it: without what means something on this one alone.
func (r Run) Portable() ([]byte, error) {
	r.Log, r.Client, r.Continues, r.Node = "agent-"+r.Name+".log", "", "", "" // a record names a log, and this one may have come from elsewhere
	return json.Marshal(r)
}

// ReadPortable reads what Portable has returned. The run has no log on this computer: its Log is "".
func ReadPortable(line []byte) (Run, error) {
	var r Run
	if err := json.Unmarshal(line, &r); err != nil {
		return Run{}, err
	}
	if err := r.check(); err != nil {
		return Run{}, err
	}
	r.Log, r.Client, r.Continues, r.Node = "", "", "", ""
	return r, nil
}
