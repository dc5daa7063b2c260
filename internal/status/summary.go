package status

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A RunSummary is a run of a pipeline in a line.
type RunSummary struct {
	Run     string         `json:"run"`
	Topic   string         `json:"topic"`
	State   pipeline.State `json:"state"`
	Waiting string         `json:"waiting"`
	Next    string         `json:"next"` // the command that moves it on

	Since            time.Time     `json:"-"` // when it changed last
	Person, Deserted bool          `json:"-"`
	questions        []RunQuestion // that are open
	uncertain        bool          // whether its result arrived
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
		list = append(list, RunSummary{Run: name, Topic: l.Topic, State: l.Status.State, Waiting: l.WaitText(time.Now()), Next: l.Next[0].Command,
			Since: l.Status.UpdatedAt, Person: l.View.Action.Person, Deserted: l.deserted(), uncertain: l.View.Facts.Delivery.State == pipeline.Uncertain, questions: l.Questions})
	}
	return list
}

// A RunLine is an active or archived run in a list.
type RunLine struct {
	Run       string         `json:"run"`
	Topic     string         `json:"topic,omitempty"`
	State     pipeline.State `json:"state,omitempty"`
	Archived  bool           `json:"archived"`
	Dir       string         `json:"dir"`
	CreatedAt time.Time      `json:"created_at,omitzero"`
	RerunOf   string         `json:"rerun_of,omitempty"`
	Variant   string         `json:"variant,omitempty"`
	Error     string         `json:"error,omitempty"` // why it cannot be read
}

// Outcome is how the run stands or ended, in a word.
func (l RunLine) Outcome() string {
	if l.Error != "" {
		return "unreadable"
	}
	return string(l.State)
}

// About says in one short line when the run was started and of what it is.
func (l RunLine) About() string {
	if l.Error != "" {
		return format.Clip(format.Line(l.Error), 60)
	}
	text := format.Line(l.Topic)
	if l.RerunOf != "" {
		text = "(" + l.RerunOf + " again) " + text
	}
	if l.Variant != "" {
		text = "(by " + l.Variant + ") " + text
	}
	return l.CreatedAt.Local().Format(time.DateTime) + "  " + format.Clip(text, 60)
}

// Runs returns all active runs and the newest archived ones, the newest first of each, and how many
// archived ones are left out.
func Runs(at run.Place, newest int) (list []RunLine, more int, err error) {
	active, err := at.Names()
	if err != nil {
		return nil, 0, err
	}
	over, err := at.Archived()
	if err != nil {
		return nil, 0, err
	}
	more = max(0, len(over)-newest)
	list = []RunLine{}
	for _, name := range slices.Backward(active) {
		list = append(list, runLine(filepath.Join(at.Tmp, name), false))
	}
	for _, name := range slices.Backward(over[more:]) {
		list = append(list, runLine(filepath.Join(at.Archive, name), true))
	}
	return list, more, nil
}

func runLine(dir string, archived bool) RunLine {
	l := RunLine{Run: filepath.Base(dir), Archived: archived, Dir: dir}
	f, err := run.Open(dir)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	s, err := f.Status()
	if err != nil {
		l.Error = err.Error()
		return l
	}
	l.Topic, l.State, l.CreatedAt, l.Variant = s.Topic, s.State, s.CreatedAt, f.Settings.Variant
	if f.Origin != nil {
		l.RerunOf = f.Origin.Run
	}
	return l
}

// ArchivedRuns returns the newest runs of pipelines that are over, the newest first. It leaves out what cannot be listed.
func ArchivedRuns(e *engine.Engine, newest int) []RunLine {
	conf, err := e.Config()
	if err != nil {
		return nil
	}
	list, _, _ := Runs(run.At(e.Place().Root, conf.Pipelines), newest)
	return slices.DeleteFunc(list, func(l RunLine) bool { return !l.Archived })
}
