package pipeline

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Answer answers an open question of a worker of a run; an id of "" is the only one. Then it continues the run, if nothing advances it
// and the person wants that.
func Answer(a *cli.App, ctx context.Context, name, id string, from cli.Source, words []string) error {
	if err := a.Decide(ctx, status.Request{Kind: status.ActNamed(status.AnswerRun), Item: name, ID: id}, from, words...); err != nil {
		return err
	}
	at, _, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	f, err := status.OpenRun(at, name)
	if err != nil || f.Leader() != 0 {
		return err
	}
	v, err := f.View(time.Now())
	if err != nil || v.Action.Person || !a.AgreesToContinue() {
		return err
	}
	return conductRun(a, ctx, at, f, pipeline.Resume)
}
