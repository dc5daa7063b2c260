package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// conductRun conducts a run until it is over or a person is needed, shows how it goes, and says how it went. That somebody else
// conducts it too does no harm. The verb is what was asked for.
func conductRun(a *cli.App, ctx context.Context, at run.Place, f *run.Folder, verb pipeline.Verb) error {
	leave, err := f.Lead()
	var led *run.LedError
	switch {
	case err == nil:
		defer leave()
	case !errors.As(err, &led) && !errors.Is(err, run.ErrGone):
		return err
	}
	cli.IgnoreHangup()
	p := NewProgress(a, f)
	p.cancels = verb == pipeline.Cancel
	o, err := p.Options()
	if err != nil {
		return err
	}
	p.follow()
	act, err := f.Conduct(ctx, o)
	p.close()
	switch {
	case errors.Is(err, run.ErrGone):
		if f, err = moved(a, at, f); err != nil {
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

// moved finds a run that another process archived meanwhile.
func moved(a *cli.App, at run.Place, f *run.Folder) (*run.Folder, error) {
	if to, err := run.Open(filepath.Join(at.Archive, f.Name())); err == nil {
		return to, nil
	}
	return nil, cli.Refuse(refusal.StoreGone, f.Dir+" is gone, and not in the archive", "find out what deleted it")
}

// A PipelineEnd is the last line of a command that conducts, with --json.
type PipelineEnd struct {
	Kind      string           `json:"kind"`
	Exit      int              `json:"exit"`
	Run       string           `json:"run"`
	Dir       string           `json:"dir"`
	State     pipeline.State   `json:"state"`
	Delivered bool             `json:"delivered"`
	Partial   bool             `json:"partial,omitempty"` // of what there was
	Failure   string           `json:"failure,omitempty"`
	Action    *status.Decision `json:"action,omitempty"` // the last one
	Next      []status.Step    `json:"next"`
}

func endOf(exit int, l *status.RunStatus) PipelineEnd {
	return PipelineEnd{Kind: "end", Exit: exit, Run: l.Run, Dir: l.Dir, State: l.Status.State, Delivered: l.Status.ResultDelivered,
		Partial: l.Partial(), Failure: l.Status.Failure, Action: l.Action, Next: l.Next}
}

// exitOf is the exit code of a command that conducted a run as far as it goes.
func exitOf(s pipeline.Status, act pipeline.Action) int {
	switch {
	case s.ResultDelivered:
		return cli.ExitOK
	case s.State == pipeline.IsFailed, s.State == pipeline.IsCancelled:
		return cli.ExitFailure
	case act.Person:
		return cli.ExitPerson
	}
	return cli.ExitFailure
}

// ended says how the run went.
func (p *progress) ended(at run.Place, f *run.Folder, act pipeline.Action) error {
	l, err := status.ReadRun(at, f, time.Now())
	if err != nil {
		return err
	}
	exit := exitOf(l.Status, act)
	if l.Status.State == pipeline.IsCancelled && p.cancels {
		exit = cli.ExitOK
	}
	return p.end(exit, l, p.verdict(l))
}

// end is the last that a command which conducts has to say.
func (p *progress) end(exit int, l *status.RunStatus, verdict string) error {
	if p.a.JSON {
		if err := p.a.PrintJSONLine(endOf(exit, l)); err != nil {
			return err
		}
	} else {
		p.to.Say("%s\n", p.to.Paint(cli.RunColour[l.Status.State], verdict))
		p.to.ShowSteps(l.Next)
	}
	if exit == cli.ExitOK {
		return nil
	}
	return cli.ExitWith(exit)
}

// verdict says in a line how the run went.
func (p *progress) verdict(l *status.RunStatus) string {
	s, took := l.Status, format.Duration(l.Status.UpdatedAt.Sub(l.Status.CreatedAt))
	switch {
	case l.Partial():
		return fmt.Sprintf("%s is delivered in part, after %s: not everything was done", l.Run, took)
	case s.ResultDelivered && !p.printed && l.Delivery != nil && l.Delivery.Target == config.ToStdout:
		return fmt.Sprintf("%s is delivered after %s, by another ferrus and to its stdout", l.Run, took)
	case s.ResultDelivered:
		return fmt.Sprintf("%s is delivered after %s", l.Run, took)
	case s.State == pipeline.IsCancelled:
		return fmt.Sprintf("cancelled %s; it is archived in %s", l.Run, l.Dir)
	}
	return fmt.Sprintf("%s is %s: %s", l.Run, s.State, format.Line(l.Waiting.Why))
}

// stopped says that no process advances the run any more, and how to continue.
func (p *progress) stopped(ctx context.Context, at run.Place) error {
	f, err := openRun(p.a, at, p.run)
	if err != nil {
		return err
	}
	l, err := status.ReadRun(at, f, time.Now())
	if err != nil {
		return err
	}
	l.Next = []status.Step{{Command: "ferrus pipeline resume " + p.run, Why: "continues it"}, {Command: "ferrus pipeline cancel " + p.run, Why: "cancels it and its workers"},
		{Command: "ferrus pipeline status " + p.run, Why: ""}}
	return p.end(cli.ExitOfSignal(ctx), l, fmt.Sprintf("stopped: nothing advances %s now, and its workers continue", p.run))
}
