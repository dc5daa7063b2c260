package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A runState has the status and the journal of a run while the lock is held. The lines of the
// journal count; status.json is a copy of the newest status for readers.
type runState struct {
	f      *Folder
	o      Options
	status pipeline.Status
	sum    string // SHA-256 of status.json
	lines  int    // number of lines that this tick has written
}

// open reads the run. It completes what a crash has interrupted. It undoes and reports changes of
// status.json or workflow.json by others.
func (b *runState) open(now time.Time) error {
	file, err := b.f.journal(os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	defer file.Close()
	last, end, err := b.f.lastLine(file)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && info.Size() > end {
		if err := file.Truncate(end); err != nil {
			return fmt.Errorf("cut off the torn end of %s: %v", file.Name(), rootfs.Cause(err))
		}
	}
	if last.Intent != "" { // it was done; the process that did it died before it could remove the file
		if i, _ := b.f.intent(); i.ID == last.Intent {
			_ = b.f.remove(intentFile)
		}
	}
	b.status, b.sum = last.Status, last.SHA256
	text, err := b.f.slurp(statusFile)
	if err != nil {
		return err
	}
	switch sum := digest(text); {
	case sum == last.SHA256:
	case sum == last.Was, len(text) == 0: // a crash, or a power cut
		if err := b.show(); err != nil {
			return err
		}
	default:
		if theirs, err := pipeline.Decode(text); err == nil && theirs.Same(last.Status) {
			b.status, b.sum = theirs, sum // only unknown keys were added
			break
		}
		if err := b.undo(statusFile, text, now, b.show); err != nil {
			return err
		}
	}
	text, err = b.f.slurp(workflowFile)
	if err == nil && string(text) != string(b.f.frozen()) {
		err = b.undo(workflowFile, text, now, func() error { return b.f.replace(workflowFile, b.f.frozen(), 0o444) })
	}
	return err
}

// frozen returns the workflow.json of the run.
func (f *Folder) frozen() []byte {
	text, err := f.Workflow.Encode()
	if err != nil {
		panic(err) // it was read from JSON
	}
	return text
}

// undo restores a file of ferrus that was changed from outside, and reports which workers were
// running.
func (b *runState) undo(file string, theirs []byte, now time.Time, back func() error) error {
	kept := ""
	if theirs != nil {
		kept = fmt.Sprintf("%s/%s.%d", attemptsDir, file, b.status.Rev+1)
		if err := b.f.replace(kept, theirs, 0o600); err != nil {
			return err
		}
		kept = "; the changed file is in " + kept
	}
	if err := back(); err != nil {
		return err
	}
	why := fmt.Sprintf("%s was changed from outside, and restored%s", file, kept)
	if who := b.f.alive(); len(who) > 0 {
		why += "; running were " + strings.Join(who, ", ")
	}
	return b.tell(now, pipeline.Violation, why)
}

// tell records something that changes nothing but that a person must know.
func (b *runState) tell(now time.Time, reason pipeline.Reason, why string) error {
	return b.commit(Line{At: now, Event: "noted", Reason: reason, Why: why, Tell: fmt.Sprintf("Pipeline %s: %s.", b.f.Name(), why), Status: b.status})
}

// commit writes a line and the status that follows from it. A line without a change has a revision
// of its own, too.
func (b *runState) commit(l Line) error {
	if l.Status.Rev <= b.status.Rev {
		l.Status.Rev = b.status.Rev + 1
	}
	l.Rev, l.At, l.Was = l.Status.Rev, l.At.UTC().Round(0), b.sum
	text, err := l.Status.Encode()
	if err != nil {
		return err
	}
	l.SHA256 = digest(text)
	b.o.at("before " + l.Event)
	if err := b.f.append(l); err != nil {
		return err
	}
	b.lines++
	b.status, b.sum = l.Status, l.SHA256
	b.o.at("journalled " + l.Event)
	err = b.show()
	if b.o.Report != nil {
		b.o.Report(l)
	}
	b.o.at("after " + l.Event)
	return err
}

// show writes status.json, read-only: no worker may change it.
func (b *runState) show() error { return b.writeStatus(b.f.replace) }

func (b *runState) writeStatus(write func(name string, data []byte, mode fs.FileMode) error) error {
	text, err := b.status.Encode()
	if err != nil {
		return err
	}
	return write(statusFile, text, 0o444)
}
