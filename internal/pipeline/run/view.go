package run

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// Status returns the last recorded status of the run. It takes no lock. If status.json cannot be
// read, it reads the journal.
func (f *Folder) Status() (pipeline.Status, error) {
	text, err := f.slurp(statusFile)
	if err == nil && len(text) > 0 {
		if s, err := pipeline.Decode(text); err == nil && s.Check(f.Workflow) == nil {
			return s, nil
		}
	}
	file, err := f.journal(os.O_RDONLY)
	if err != nil {
		return pipeline.Status{}, err
	}
	defer file.Close()
	l, _, err := f.lastLine(file)
	return l.Status, err
}

// A View is the present state of a run, for display.
type View struct {
	Facts  pipeline.Facts  // with the status reconciled with the files
	Action pipeline.Action // what the next tick will do
	Runs   map[string][]process.Run
}

// View reads the run and changes nothing.
func (f *Folder) View(now time.Time) (View, error) {
	facts, err := f.present(now)
	if err != nil {
		return View{}, err
	}
	a, err := f.decide(facts)
	if err != nil {
		return View{}, err
	}
	v := View{Facts: facts, Action: a, Runs: map[string][]process.Run{}}
	for _, p := range f.Workflow.Phases {
		for _, k := range p.Workers {
			if v.Runs[k.Role], err = f.Runs(k.Role); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// Over reports whether the run has ended: it is delivered or cancelled.
func (v View) Over() bool {
	return v.Facts.Status.ResultDelivered || v.Facts.Status.State == pipeline.IsCancelled
}

// A RefusedError says that a request of a person cannot be fulfilled now.
type RefusedError struct {
	Verb  pipeline.Verb
	State pipeline.State
	Why   string // what the run waits for
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the run is %s, and there is nothing to %s: %s", e.State, e.Verb, e.Why)
}

// Ask records a request of a person; the next tick of any process fulfils it. The error is
// *RefusedError if the request cannot be fulfilled now; then nothing is recorded.
func (f *Folder) Ask(i Intent, now time.Time) error {
	facts, err := f.present(now)
	if err != nil {
		return err
	}
	facts.Intent = pipeline.Intent{Verb: i.Verb, From: i.From, By: i.By}
	a := pipeline.Decide(facts)
	if !grants(i.Verb, a.Do) {
		why := a.Why
		if why == "" {
			why = a.String()
		}
		return &RefusedError{i.Verb, facts.Status.State, why}
	}
	if _, err := f.lstat(); errors.Is(err, os.ErrNotExist) {
		return ErrGone
	}
	text, err := jsonx.Marshal(i)
	if err != nil {
		return err
	}
	return f.durably(intentFile, append(text, '\n'), 0o600)
}
