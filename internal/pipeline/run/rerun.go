package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// An Origin says which run a rerun takes up, and which of its outputs were copied.
type Origin struct {
	Run     string            `json:"run"`
	From    string            `json:"from"` // role or phase
	Outputs []pipeline.Output `json:"outputs"`
}

// ErrActive means that a run has not ended, and so cannot be run again.
var ErrActive = errors.New("the run has not ended")

// A ChangedError says that an output of a run is not what its journal recorded.
type ChangedError struct {
	pipeline.Output
	Gone bool
}

func (e *ChangedError) Error() string {
	if e.Gone {
		return e.File + " is gone"
	}
	return e.File + " has changed since it was written: its hash is not that in the journal"
}

// Rerun takes a run that has ended up again from a role or a phase, in a new folder; see
// pipeline.NewRerun for "". The outputs before that point are copied, and their hashes are checked
// and recorded. more is added to the topic. Nothing of the old run is changed. The error is
// ErrActive, *pipeline.PointError or *ChangedError if the run cannot be taken up so.
func (p Place) Rerun(old *Folder, from, more string, s Settings, now time.Time) (*Folder, error) {
	was, err := old.ended()
	if err != nil {
		return nil, err
	}
	topic := was.Topic
	if more != "" {
		topic += "\n\n" + more
	}
	return p.begin(old.Workflow, s, now, func(f *Folder) (Line, error) {
		r, err := pipeline.NewRerun(old.Workflow, was, from, f.Name(), topic, now)
		if err == nil {
			err = r.Status.Check(f.Workflow)
		}
		if err != nil {
			return Line{}, err
		}
		for _, o := range r.Outputs {
			if err := f.copy(old, o); err != nil {
				return Line{}, err
			}
		}
		b := &runState{f: f}
		if err := b.keep(pipeline.New(f.Workflow, f.Name(), topic, now), r.Status); err != nil {
			return Line{}, err
		}
		return Line{Status: r.Status, Rerun: &Origin{old.Name(), r.From, r.Outputs}}, nil
	})
}

// ended returns the newest status in the journal of a run that has ended.
func (f *Folder) ended() (pipeline.Status, error) {
	file, err := f.journal(os.O_RDONLY)
	if err != nil {
		return pipeline.Status{}, err
	}
	defer file.Close()
	l, _, err := f.lastLine(file)
	if err != nil {
		return pipeline.Status{}, err
	}
	if err := l.Status.Fits(f.Workflow); err != nil {
		return pipeline.Status{}, err
	}
	if !l.Status.ResultDelivered && l.Status.State != pipeline.IsCancelled {
		return pipeline.Status{}, ErrActive
	}
	return l.Status, nil
}

// copy copies an output of another run that still has its recorded hash.
func (f *Folder) copy(from *Folder, o pipeline.Output) error {
	text, err := from.slurp(o.File)
	switch {
	case err != nil:
		return err
	case text == nil:
		return &ChangedError{o, true}
	case digest(text) != o.SHA256:
		return &ChangedError{o, false}
	}
	return f.durably(o.File, text, 0o600)
}

// check returns an error for a field that a launch does not write.
func (o *Origin) check(w workflow.Workflow) error {
	if o == nil {
		return nil
	}
	_, from := w.Worker(o.From)
	if from < 0 && !slices.ContainsFunc(w.Phases, func(p workflow.Phase) bool { return p.ID == o.From }) {
		return fmt.Errorf("its from, %.64q, is not a worker or phase", o.From)
	}
	if !runName.MatchString(o.Run) {
		return fmt.Errorf("its run, %.100q, is not the name of a run", o.Run)
	}
	return nil
}
