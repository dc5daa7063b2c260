package run

import (
	"context"
	"os"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
)

// A preparation is a run that nothing stands in the way of. Its owner closes its engine.
type preparation struct {
	*engine.Session
	conf    config.Config
	program string // this one, by which agents start their servers
	hurry   bool
	until   conductor.Until
}

// prepare opens the project of a run. It refuses a run with an invalid ferrus.toml, one of values that nobody has agreed to,
// and one beside another run. A run with tasks that are not begun also needs checks and agents that can be started.
func prepare(a *cli.App, ctx context.Context, how conducting) (*preparation, error) {
	open, fresh := a.OpenAsPerson, how.task != nil
	if how.parallel > 0 {
		open, fresh = a.ProjectSession, true
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, "run")
	if err != nil {
		return nil, err
	}
	conf, err := startable(a, ctx, s.Engine(), how, fresh)
	if err != nil {
		s.Engine().Close()
		return nil, err
	}
	return &preparation{s, conf, program, how.now, how.Until}, nil
}

// startable returns the configuration of a run, or why there can be none.
func startable(a *cli.App, ctx context.Context, e *engine.Engine, how conducting, fresh bool) (config.Config, error) {
	conf, err := cli.ValidConfig(e)
	many := how.parallel > 0
	if err != nil {
		return conf, err
	}
	needed, dir := e.Known, e.Place().Path()
	if fresh {
		needed = e.Trusted
	}
	if many {
		dir = schedule.Dir(e.Place().Root)
	}
	if err := a.WithTrust(e, needed); err != nil {
		return conf, err
	}
	if other, busy := conductor.Conductor(dir); busy {
		return conf, &conductor.BusyError{Holder: other}
	}
	if err := a.AllowUnrehearsed(e, how.allowed, !how.headless); err != nil {
		return conf, err
	}
	if fresh {
		ctx, end := a.Working(ctx, "looking whether the agents can start,")
		defer end()
		return conf, cli.CheckReady(ctx, e, conf.Gate(), many)
	}
	return conf, nil
}

// options are those of a conductor under a configuration, without the receivers of its events.
func (p *preparation) options(conf config.Config) conductor.Options {
	return conductor.Options{Hurry: p.hurry, Until: p.until, Ferrus: p.program, Lease: conf.Lease, Environ: os.Environ(),
		FetchFiles: func(ctx context.Context, e *engine.Engine) error {
			return branch.Bring(ctx, e.Session(p.Caller))
		},
		HandOver: func(ctx context.Context, e *engine.Engine) (string, error) { return e.Publish(ctx) }}
}
