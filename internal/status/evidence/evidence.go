// Package evidence documents how a task was done, without the agents: for a pull request, or for
// somebody who asks later.
//
// [Read] gathers what is known of a task: its journal lines, its documents, the checks with their logs,
// the agents that ferrus started, and the patch. [Report.Files] makes the files of it, with a report in
// Markdown, and [Write] puts them into a folder. The same project files always give the same bytes: no
// clock is read, times are UTC, and the folder of the project is written as ".".
//
// What is not for others is left out: the frozen configuration may name secrets.
package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Report has all that is known of a task.
type Report struct {
	task    string
	root    string
	events  []status.Event // its own, and the reset that gave it up
	last    store.Snapshot
	present bool // it is the task that the machine has
	docs    map[state.Doc]string
	checks  []checked
	logs    map[string][]byte // of the checks, by their id
	scores  []score
	printed map[string][]byte // of the scores, by their file
	runs    []process.Run
	tree    string // to which the patch leads; "" when none is known
	patch   []byte
	noPatch string   // why there is none; "" when there is
	skipped []string // which files were not read for it, and why
}

// A checked is one run of the checks.
type checked struct {
	id, by, note string
	verdict      state.CheckStatus
	began, ended time.Time // ended is zero where it was abandoned, or is running
	log          string    // relative to the .ferrus folder
}

// Read gathers all about a task of the machine, the present one or one that is over. The error of a task
// that the journal does not have is a *refusal.RefusedError.
func Read(ctx context.Context, e *engine.Engine, task string) (*Report, error) {
	all, err := status.History(e, 0)
	if err != nil {
		return nil, err
	}
	d := &Report{task: task, root: e.Place().Root, logs: map[string][]byte{}, printed: map[string][]byte{}, docs: map[state.Doc]string{}}
	for i, p := range all {
		own := p.State.TaskID == task
		if own {
			d.last, d.present = engine.After(p.Line), i == len(all)-1
		}
		if own || p.Event == state.Reset && i > 0 && all[i-1].State.TaskID == task {
			d.events = append(d.events, p)
		}
	}
	if len(d.events) == 0 {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "there is no task " + task + " in the journal",
			Remedy: "ferrus status --all lists the tasks"}
	}
	for _, doc := range state.Docs() {
		if _, ok := d.last.Task.Docs[doc]; !ok {
			continue
		}
		if d.docs[doc], err = store.Text(e.Store(), d.last, doc); err != nil {
			return nil, err
		}
	}
	d.checks, d.scores = checksOf(d.events), scoresOf(d.events)
	if err := d.readLogs(e); err != nil {
		return nil, err
	}
	if d.runs, err = process.Runs(conductor.Runs(e, task)); err != nil {
		return nil, err
	}
	err = d.readPatch(ctx, e)
	for _, p := range d.events { // from here on they are only shown
		d.withhold(p.Line)
	}
	return d, err
}

// checksOf are the checks of a task, oldest first.
func checksOf(events []status.Event) []checked {
	var list []checked
	for _, p := range events {
		c := p.State.Check
		if p.Event == state.CheckStarted {
			list = append(list, checked{id: c.ID, by: p.Actor.Agent, began: p.At, verdict: c.Status, log: c.Log})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if last.verdict != state.CheckRunning {
			continue
		}
		if last.id != c.ID { // a rollback has brought back an earlier one, or a reset none
			last.verdict = state.CheckAbandoned
			continue
		}
		if last.verdict = c.Status; c.Status != state.CheckRunning && c.Status != state.CheckAbandoned {
			last.ended, last.note = p.At, p.Note
		}
	}
	return list
}

// maxLog bounds what is read of the log of a check, in bytes.
const maxLog = 256 << 20

// readLogs reads what the checks and the scores printed. A log that is gone is left out.
func (d *Report) readLogs(e *engine.Engine) error {
	for _, c := range d.checks {
		if err := readLog(e, c.log, d.logs, c.id); err != nil {
			return err
		}
	}
	for _, s := range d.scores {
		if err := readLog(e, s.Log, d.printed, s.file()); err != nil {
			return err
		}
	}
	return nil
}

// readLog reads a log of a path relative to the .ferrus folder, if it is there.
func readLog(e *engine.Engine, log string, all map[string][]byte, name string) error {
	if log == "" || !filepath.IsLocal(log) {
		return nil
	}
	text, err := rootfs.ReadOwn(e.Place().Path(filepath.FromSlash(log)), maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		all[name] = text
	}
	return err
}

// readPatch takes the patch from the tree that the task began with to that of its end: the work tree while somebody is to
// work on it, else the one that was checked last, which is the one that was submitted where one was.
func (d *Report) readPatch(ctx context.Context, e *engine.Engine) error {
	t := d.last.Task
	work, err := e.Tree(ctx, d.last)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.noPatch = err.Error()
		return nil
	case !work.Git() || t.BaseTree == "":
		d.noPatch = "the work is not in a git repository"
		return nil
	}
	if d.tree = t.Check.Tree; d.present && unfinished(t) {
		d.tree, d.skipped, err = e.Inspect(ctx, d.last)
	}
	var patch bytes.Buffer
	switch {
	case err != nil:
	case d.tree == "":
		d.noPatch = "no check had run when the task ended"
		return nil
	default:
		err = work.Patch(ctx, t.BaseTree, d.tree, &patch)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.noPatch = err.Error()
		return nil
	}
	if d.patch = patch.Bytes(); patch.Len() == 0 {
		d.noPatch = "nothing was changed"
	}
	return nil
}

// unfinished reports whether the work is in hand, now or when the pauses are over.
func unfinished(t state.Task) bool {
	return t.State.InHand() || len(t.Paused) > 0 && t.Paused[0].State.InHand()
}

// withhold takes out of a line what is not for others: the gate may name secrets, and so may a change of it.
func (d *Report) withhold(l *store.Line) {
	maps.DeleteFunc(l.Docs, func(doc state.Doc, _ string) bool { return store.Private(doc) })
	if l.Event == state.AcceptConfig {
		l.Note = ""
	}
}

// Present reports whether the task is the one that the machine has.
func (d *Report) Present() bool { return d.present }

// State returns the state of the task, at its end if it is over.
func (d *Report) State() state.State { return d.last.Task.State }

// Files returns the files of the folder, by name, with slashes.
func (d *Report) Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for doc, text := range d.docs {
		files[string(doc)] = []byte(text)
	}
	for id, text := range d.logs {
		files["checks/"+id+".log"] = text
	}
	maps.Copy(files, d.printed)
	var journal bytes.Buffer
	for _, p := range d.events {
		text, err := format.JSON(struct {
			*store.Line
			H string `json:"h"`
		}{p.Line, p.H}, "")
		if err != nil {
			return nil, fmt.Errorf("event %d: %v", p.Seq, err)
		}
		journal.Write(text)
	}
	files["journal.jsonl"] = journal.Bytes()
	files["evidence.md"] = []byte(d.markdown())
	for name, text := range files {
		files[name] = relative(text, d.root)
	}
	if d.noPatch == "" {
		files["work.patch"] = d.patch // of git's own making, and to be applied
	}
	return files, nil
}
