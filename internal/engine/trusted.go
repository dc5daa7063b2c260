package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Trusted returns nil when a person has agreed to what the project's files make run now, which is what anything new needs:
// a task, a branch, a trial of the checks, a pipeline. The error is an *UntrustedError, or one of the configuration.
func (e *Engine) Trusted() error {
	conf, err := e.Config()
	if err != nil {
		return refusal.Config(err)
	}
	return e.trusted(conf)
}

// trusted is Trusted for a configuration that the caller is about to use.
func (e *Engine) trusted(conf config.Config) error {
	if err := agreement.Arguments(conf); err != nil && e.opts.Project != nil {
		return err
	}
	return e.TrustedValues(agreement.Executable(e.place.Root, conf))
}

// TrustedValues is Trusted for values that the caller has read and is about to use.
func (e *Engine) TrustedValues(values []trust.Value) error {
	return agreement.Check(e.opts.Project, e.place.Root, e, values)
}

// Known returns nil when a person has agreed to something in this project, by which its journal is of this machine's
// making: work in progress continues by its frozen configuration and asks nobody. Otherwise it is Trusted.
func (e *Engine) Known() error {
	p := e.opts.Project
	if p == nil {
		return nil
	}
	if known, err := p.Known(); known && err == nil {
		return nil
	}
	return e.Trusted()
}

// accepted records a person's word on the part of the configuration that is frozen with a task. A record that cannot be
// written costs a question later.
func (e *Engine) accepted(conf config.Config) {
	if err := agreement.Accept(e.opts.Project, conf); err != nil {
		e.log.Warn("the agreement was not recorded", "error", err)
	}
}

// Copies returns the ignored files of the project's own folder that are copied into new work trees, and those that wait for a person's
// word. A caller that answers for the project's files, without a record, copies none.
func (e *Engine) Copies(ctx context.Context) (agreement.Copies, error) {
	if e.opts.Project == nil {
		return agreement.Copies{}, nil
	}
	return agreement.CopiesOf(ctx, e.opts.Project, e.place.Root)
}
