package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// see conducts a run until it is over or a person is needed, shows how it goes, and says how it went. That somebody else
// conducts it too does no harm. The verb is what was asked for.
func (a *app) see(ctx context.Context, at run.Place, f *run.Folder, verb pipeline.Verb) error {
	leave, err := f.Lead()
	var led *run.LedError
	switch {
	case err == nil:
		defer leave()
	case !errors.As(err, &led) && !errors.Is(err, run.ErrGone):
		return err
	}
	outlive()
	p := a.progress(f)
	p.cancels = verb == pipeline.Cancel
	o, err := p.options()
	if err != nil {
		return err
	}
	p.follow()
	act, err := f.Conduct(ctx, o)
	p.close()
	switch {
	case errors.Is(err, run.ErrGone):
		if f, err = a.moved(at, f); err != nil {
			return err
		}
		act = pipeline.Action{Do: pipeline.Archive, Row: "archive"}
	case ctx.Err() != nil:
		return p.stopped(ctx, at)
	case err != nil:
		return err
	}
	return p.ended(at, f, act)
}

// moved finds a run that somebody else has archived meanwhile.
func (a *app) moved(at run.Place, f *run.Folder) (*run.Folder, error) {
	if to, err := run.Open(filepath.Join(at.Archive, f.Name())); err == nil {
		return to, nil
	}
	return nil, refuse(engine.StoreGone, f.Dir+" is gone, and not in the archive", "see who has removed it")
}

// A pipelineEnd is the last line of a command that conducts, with --json.
type pipelineEnd struct {
	Kind      string         `json:"kind"`
	Exit      int            `json:"exit"`
	Run       string         `json:"run"`
	Dir       string         `json:"dir"`
	State     pipeline.State `json:"state"`
	Delivered bool           `json:"delivered"`
	Partial   bool           `json:"partial,omitempty"` // of what there was
	Failure   string         `json:"failure,omitempty"`
	Action    *decision      `json:"action,omitempty"` // the last one
	Next      []step         `json:"next"`
}

func endOf(exit int, l *outlook) pipelineEnd {
	return pipelineEnd{Kind: "end", Exit: exit, Run: l.Run, Dir: l.Dir, State: l.Status.State, Delivered: l.Status.ResultDelivered,
		Partial: l.partial(), Failure: l.Status.Failure, Action: l.Action, Next: l.Next}
}

// exitOf is the exit code of a command that conducted a run as far as it goes.
func exitOf(s pipeline.Status, act pipeline.Action) int {
	switch {
	case s.ResultDelivered:
		return exitOK
	case s.State == pipeline.IsFailed, s.State == pipeline.IsCancelled:
		return exitFailure
	case act.Person:
		return exitPerson
	}
	return exitFailure
}

// ended says how the run went.
func (p *progress) ended(at run.Place, f *run.Folder, act pipeline.Action) error {
	l, err := look(at, f, time.Now())
	if err != nil {
		return err
	}
	exit := exitOf(l.Status, act)
	if l.Status.State == pipeline.IsCancelled && p.cancels {
		exit = exitOK
	}
	return p.end(exit, l, p.verdict(l))
}

// end is the last that a command which conducts has to say.
func (p *progress) end(exit int, l *outlook, verdict string) error {
	if p.a.json {
		if err := p.a.printLine(endOf(exit, l)); err != nil {
			return err
		}
	} else {
		p.to.say("%s\n", p.to.paint(colourOf[l.Status.State], verdict))
		p.to.next(l.Next)
	}
	if exit == exitOK {
		return nil
	}
	return unwell(exit)
}

// verdict says in a line how the run went.
func (p *progress) verdict(l *outlook) string {
	s, took := l.Status, span(l.Status.UpdatedAt.Sub(l.Status.CreatedAt))
	switch {
	case l.partial():
		return fmt.Sprintf("%s is delivered in part, after %s: not everything was done", l.Run, took)
	case s.ResultDelivered && !p.printed && l.Delivery != nil && l.Delivery.Target == config.ToStdout:
		return fmt.Sprintf("%s is delivered after %s, by another ferrus and to its stdout", l.Run, took)
	case s.ResultDelivered:
		return fmt.Sprintf("%s is delivered after %s", l.Run, took)
	case s.State == pipeline.IsCancelled:
		return fmt.Sprintf("%s is cancelled; it is kept in %s", l.Run, l.Dir)
	}
	return fmt.Sprintf("%s is %s: %s", l.Run, s.State, line(l.Waiting.Why))
}

// stopped says that nobody conducts the run any more, and how it goes on.
func (p *progress) stopped(ctx context.Context, at run.Place) error {
	f, err := p.a.folder(at, p.run)
	if err != nil {
		return err
	}
	l, err := look(at, f, time.Now())
	if err != nil {
		return err
	}
	l.Next = []step{{"ferrus pipeline resume " + p.run, "goes on with it"}, {"ferrus pipeline cancel " + p.run, "ends its workers and gives it up"},
		{"ferrus pipeline status " + p.run, ""}}
	return p.end(exitOfSignal(ctx), l, fmt.Sprintf("stopped: nobody conducts %s now, and its workers go on", p.run))
}
