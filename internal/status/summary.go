package status

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// A RunSummary is a run of a pipeline in a line.
type RunSummary struct {
	Run     string         `json:"run"`
	Topic   string         `json:"topic"`
	State   pipeline.State `json:"state"`
	Waiting string         `json:"waiting"`
	Next    string         `json:"next"` // the command that moves it on

	Person, Deserted bool `json:"-"`
}

// Line is the run in a line of text.
func (u RunSummary) Line() string {
	return fmt.Sprintf("%s  %s, waits %s  →  %s", u.Run, u.State, u.Waiting, u.Next)
}

// RunningPipelines are the active runs. Runs that cannot be read are left out; the pipeline commands report them.
func RunningPipelines(e *engine.Engine) []RunSummary {
	conf, err := e.Config()
	if err != nil {
		return nil
	}
	at := run.At(e.Place().Root, conf.Pipelines)
	names, _ := at.Names()
	var list []RunSummary
	for _, name := range names {
		f, err := at.Open(name)
		if err != nil {
			continue
		}
		l, err := ReadRun(at, f, time.Now())
		if err != nil {
			continue
		}
		list = append(list, RunSummary{name, l.Topic, l.Status.State, l.WaitText(time.Now()), l.Next[0].Command, l.View.Action.Person, l.deserted()})
	}
	return list
}

// ArchivedRuns returns the names of the runs that are over, newest first. What cannot be read is left out.
func ArchivedRuns(e *engine.Engine) []string {
	conf, err := e.Config()
	if err != nil {
		return nil
	}
	names, _ := run.At(e.Place().Root, conf.Pipelines).Archived()
	slices.Reverse(names)
	return names
}
