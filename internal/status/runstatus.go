package status

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// An RunStatus is how a run stands, with what a person looks for.
type RunStatus struct {
	Run       string             `json:"run"`
	Dir       string             `json:"dir"`
	Topic     string             `json:"topic"`
	Archived  bool               `json:"archived"`
	Conductor int                `json:"conductor,omitempty"` // process id
	Rerun     *run.Origin        `json:"rerun,omitempty"`     // the run that this one takes up
	Variant   string             `json:"variant,omitempty"`   // the agent of its workers, in place of that of the workflow
	Status    pipeline.Status    `json:"status"`
	Delivery  *pipeline.Delivery `json:"delivery,omitempty"`
	Action    *Decision          `json:"action"`
	Workers   []workerLook       `json:"workers"`
	Waiting   awaited            `json:"waiting"`
	Questions []RunQuestion      `json:"questions,omitempty"` // that are open
	Next      []Step             `json:"next"`

	View   run.View `json:"-"`
	result string   // path of the delivered result, "" when no file has it
}

// A workerLook is what is known of a worker beside its status.
type workerLook struct {
	Role    string        `json:"role"`
	Phase   string        `json:"phase"`
	Alive   bool          `json:"alive"`
	Waiting bool          `json:"waiting"` // for its inputs, or a place
	Runs    []process.Run `json:"runs"`
}

// Awaited is who is waited for, "human" for a person, and why.
type awaited struct {
	For   []string `json:"for"`
	Why   string   `json:"why,omitempty"`
	Until string   `json:"until,omitempty"`
}

// ReadRunNamed is ReadRun for the run of a name in the project of an engine. The error is fs.ErrNotExist where there is none.
func ReadRunNamed(e *engine.Engine, name string, now time.Time) (*RunStatus, error) {
	conf, err := e.Config()
	if err != nil {
		return nil, err
	}
	at := run.At(e.Place().Root, conf.Pipelines)
	f, err := at.Open(name)
	if err != nil {
		return nil, err
	}
	return ReadRun(at, f, now)
}

// ReadRun gathers how a run stands.
func ReadRun(at run.Place, f *run.Folder, now time.Time) (*RunStatus, error) {
	v, err := f.View(now)
	if err != nil {
		return nil, err
	}
	s := v.Facts.Status
	l := &RunStatus{Run: f.Name(), Dir: f.Dir, Topic: s.Topic, Archived: Archived(at, f), Conductor: f.Leader(), Rerun: f.Origin, Variant: f.Settings.Variant, Status: s, View: v,
		Workers: []workerLook{}}
	if s.ResultDelivered {
		l.result = f.Result()
	}
	if v.Facts.Delivery.State != "" {
		l.Delivery = &v.Facts.Delivery
	}
	if !l.Archived {
		d := DecisionOf(v.Action)
		l.Action = &d
	}
	for _, p := range s.Phases {
		for _, k := range p.Workers {
			seen := v.Facts.Workers[k.Role]
			l.Workers = append(l.Workers, workerLook{k.Role, p.ID, seen.Alive, seen.Waiting, append([]process.Run{}, v.Runs[k.Role]...)})
		}
	}
	if !l.Archived {
		l.Questions = openQuestions(l.Run, v.Facts)
	}
	l.Waiting = l.awaits()
	l.Next = onward(l)
	return l, nil
}

// A Dependency is a worker that reads what another one writes, both by their roles.
type Dependency struct{ Writer, Reader string }

// Dependencies are those between the workers, in the order of those who read.
func (l *RunStatus) Dependencies() (list []Dependency) {
	w := l.View.Facts.Workflow
	for _, p := range l.Status.Phases {
		for _, k := range p.Workers {
			for _, file := range w.Waits(k.Role) {
				for _, writer := range w.Writers(file) {
					list = append(list, Dependency{writer, k.Role})
				}
			}
		}
	}
	return list
}

// InOrder reports whether a phase begins when the one before it has ended.
func (l *RunStatus) InOrder() bool { return !l.View.Facts.Workflow.All() }

// Partial reports whether what was delivered is only what there was.
func (l *RunStatus) Partial() bool {
	return l.Status.ResultDelivered && l.Delivery != nil && l.Delivery.By == "watchdog"
}

// awaits says who is waited for.
func (l *RunStatus) awaits() awaited {
	w := awaited{For: []string{}}
	if l.Archived {
		return w
	}
	if !l.View.Action.Until.IsZero() {
		w.Until = l.Action.Until
	}
	if l.View.Action.Person {
		w.For, w.Why = append(w.For, "human"), l.View.Action.Why
		return w
	}
	for _, k := range l.Workers {
		if k.Alive {
			w.For = append(w.For, k.Role)
		}
	}
	return w
}

// WaitText says what the run waits for, "" for nothing.
func (l *RunStatus) WaitText(now time.Time) string {
	switch {
	case l.Archived:
		return ""
	case l.View.Action.Person:
		return "for " + l.personWord() + ": " + format.Line(l.Waiting.Why)
	case l.deserted() && len(l.Waiting.For) == 0:
		return "for ferrus pipeline resume or ferrus tick: next is to " + format.Line(l.View.Action.String())
	case len(l.Waiting.For) == 0:
		return "for ferrus to " + format.Line(l.View.Action.String())
	}
	text := "for " + strings.Join(l.Waiting.For, ", ")
	if len(l.Questions) > 0 {
		text = "for your answer, and " + text
	}
	if until := l.View.Action.Until; until.After(now) {
		text += ", until " + format.Clock(until)
	}
	if l.deserted() {
		text += "; nothing advances it"
	}
	return text
}

// deserted reports whether a run that could continue has no process that advances it.
func (l *RunStatus) deserted() bool { return !l.Archived && l.Conductor == 0 && !l.View.Action.Person }

// Archived reports whether a run lies in the archive.
func Archived(at run.Place, f *run.Folder) bool { return filepath.Dir(f.Dir) == at.Archive }

// A Decision is an action of the decision table, for a program.
type Decision struct {
	Row     string          `json:"row"`
	Do      pipeline.Verb   `json:"do"`
	Phase   int             `json:"phase"` // from 0
	Roles   []string        `json:"roles,omitempty"`
	Reason  pipeline.Reason `json:"reason,omitempty"`
	Why     string          `json:"why,omitempty"`
	File    string          `json:"file,omitempty"`
	Missing []string        `json:"missing,omitempty"`
	Aside   []string        `json:"aside,omitempty"`
	Until   string          `json:"until,omitempty"`
	Person  bool            `json:"person,omitempty"` // nobody but a person gets it any further
	Tell    string          `json:"tell,omitempty"`
}

// DecisionOf returns an action as --json prints it.
func DecisionOf(act pipeline.Action) Decision {
	d := Decision{Row: act.Row, Do: act.Do, Phase: act.Phase, Roles: act.Roles, Reason: act.Reason, Why: act.Why, File: act.File,
		Missing: act.Missing, Aside: act.Aside, Person: act.Person, Tell: act.Tell}
	if !act.Until.IsZero() {
		d.Until = act.Until.UTC().Format(jsonx.Layout)
	}
	return d
}
