package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/slot"
)

func pipelineStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "How a run of a pipeline stands, who is waited for, what you can do",
		Long: `Shows a run: its phases and workers, what they have written, what became of the result, who is waited for, and which
commands move it on. When no RUN is named and none is under way, that is the newest one of the archive.

With --json: run dir topic archived conductor status{...} delivery{...} action{row do phase roles why until person ...}
workers[{role phase alive waiting runs[]}] waiting{for[] why until} next[{command why}]. status is status.json, brought up to date
with the files; action is what would be done next, null when the run is over.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pipelineStatus(cmd.Context(), strings.Join(args, ""))
		},
	}
}

// An outlook is how a run stands, with what a person looks for.
type outlook struct {
	Run       string             `json:"run"`
	Dir       string             `json:"dir"`
	Topic     string             `json:"topic"`
	Archived  bool               `json:"archived"`
	Conductor int                `json:"conductor,omitempty"` // process id
	Status    pipeline.Status    `json:"status"`
	Delivery  *pipeline.Delivery `json:"delivery,omitempty"`
	Action    *decision          `json:"action"`
	Workers   []workerLook       `json:"workers"`
	Waiting   awaited            `json:"waiting"`
	Next      []step             `json:"next"`

	view   run.View
	result string // path of the delivered result, "" when no file has it
}

// A workerLook is what is known of a worker beside its status.
type workerLook struct {
	Role    string     `json:"role"`
	Phase   string     `json:"phase"`
	Alive   bool       `json:"alive"`
	Waiting bool       `json:"waiting"` // for its inputs, or a place
	Runs    []slot.Run `json:"runs"`
}

// Awaited is who is waited for, "human" for a person, and why.
type awaited struct {
	For   []string `json:"for"`
	Why   string   `json:"why,omitempty"`
	Until string   `json:"until,omitempty"`
}

// look gathers how a run stands.
func look(at run.Place, f *run.Folder, now time.Time) (*outlook, error) {
	v, err := f.View(now)
	if err != nil {
		return nil, err
	}
	s := v.Facts.Status
	l := &outlook{Run: f.Name(), Dir: f.Dir, Topic: s.Topic, Archived: archived(at, f), Conductor: f.Leader(), Status: s, view: v,
		Workers: []workerLook{}}
	if s.ResultDelivered {
		l.result = f.Result()
	}
	if v.Facts.Delivery.State != "" {
		l.Delivery = &v.Facts.Delivery
	}
	if !l.Archived {
		d := decided(v.Action)
		l.Action = &d
	}
	for _, p := range s.Phases {
		for _, k := range p.Workers {
			seen := v.Facts.Workers[k.Role]
			l.Workers = append(l.Workers, workerLook{k.Role, p.ID, seen.Alive, seen.Waiting, append([]slot.Run{}, v.Runs[k.Role]...)})
		}
	}
	l.Waiting = l.awaits()
	l.Next = onward(l)
	return l, nil
}

// partial reports whether what was delivered is only what there was.
func (l *outlook) partial() bool {
	return l.Status.ResultDelivered && l.Delivery != nil && l.Delivery.By == "watchdog"
}

// awaits says who is waited for.
func (l *outlook) awaits() awaited {
	w := awaited{For: []string{}}
	if l.Archived {
		return w
	}
	if !l.view.Action.Until.IsZero() {
		w.Until = l.Action.Until
	}
	if l.view.Action.Person {
		w.For, w.Why = append(w.For, "human"), l.view.Action.Why
		return w
	}
	for _, k := range l.Workers {
		if k.Alive {
			w.For = append(w.For, k.Role)
		}
	}
	return w
}

func (a *app) pipelineStatus(ctx context.Context, name string) error {
	at, _, err := a.runs(ctx)
	if err != nil {
		return err
	}
	f, err := a.newest(at, name)
	if err != nil {
		return err
	}
	l, err := look(at, f, time.Now())
	if err != nil {
		return err
	}
	if a.json {
		return a.print(l)
	}
	a.showRun(l, time.Now())
	return nil
}

// showRun prints a run on one screen.
func (a *app) showRun(l *outlook, now time.Time) {
	s := l.Status
	a.say("%s  %-44s  %s\n", l.Run, line(l.Topic), a.paint(colourOr(s.State), string(s.State)))
	for i, p := range s.Phases {
		a.say("  %s\n", a.paint(phaseColour[p.Status], phaseWords(i, p)))
		for _, k := range p.Workers {
			a.say("    %s\n", a.paint(phaseColour[k.Status], workerWords(l.view, k, now)))
		}
	}
	if d := l.Delivery; d != nil {
		text := fmt.Sprintf("%s to %s by %s, %s ago", d.State, d.Target, d.By, age(d.At))
		if l.partial() {
			text += ", marked PARTIAL"
		}
		a.row("result", text)
	}
	if l.Conductor != 0 {
		a.row("conductor", fmt.Sprintf("process %d", l.Conductor))
	}
	if text := l.waitWords(now); text != "" {
		a.row("waiting", text)
	}
	if l.Archived {
		a.row("archived", l.Dir)
	}
	a.next(l.Next)
}

func colourOr(s pipeline.State) string {
	if c := colourOf[s]; c != "" {
		return c
	}
	return bold
}

// waitWords says who is waited for, "" for nobody.
func (l *outlook) waitWords(now time.Time) string {
	switch {
	case l.Archived:
		return ""
	case l.view.Action.Person:
		return "for you: " + line(l.Waiting.Why)
	case l.deserted() && len(l.Waiting.For) == 0:
		return "for somebody who conducts it: next is to " + line(l.view.Action.String())
	case len(l.Waiting.For) == 0:
		return "for its conductor to " + line(l.view.Action.String())
	}
	text := "for " + strings.Join(l.Waiting.For, ", ")
	if until := l.view.Action.Until; until.After(now) {
		text += ", until " + clock(until)
	}
	if l.deserted() {
		text += "; nobody conducts it"
	}
	return text
}

// deserted reports whether a run that could go on has nobody who sees to it.
func (l *outlook) deserted() bool { return !l.Archived && l.Conductor == 0 && !l.view.Action.Person }
