package engine

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/agreement"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/trust"
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
	p := e.opts.Project
	if p == nil {
		return nil
	}
	ok, err := p.Agreed(values)
	if err == nil && !ok && len(values) == 0 {
		ok, err = e.nothingToAgree()
	}
	if ok && err == nil {
		return nil
	}
	return e.untrusted(values, err)
}

// nothingToAgree is the case of a project whose files make nothing run: a new one is ours by its first task, and one that
// has tasks without a record here is adopted by a person.
func (e *Engine) nothingToAgree() (bool, error) {
	p := e.opts.Project
	known, err := p.Known()
	if err != nil || known {
		return known, err
	}
	snap, err := e.View()
	if err != nil || snap.Task.Seq > 0 {
		return false, err
	}
	return true, p.Agree(nil)
}

// Known returns nil when a person has agreed to something in this project, by which its journal is of this machine's
// making: work under way goes on by its frozen configuration and asks nobody. Otherwise it is Trusted.
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

// untrusted says what has to be agreed to, and how. broken is why the record cannot be read, nil when it can.
func (e *Engine) untrusted(values []trust.Value, broken error) error {
	if broken != nil {
		return agreement.Unreadable(e.place.Root, values, broken)
	}
	r, _, err := e.opts.Project.Record()
	if err != nil {
		return agreement.Unreadable(e.place.Root, values, err)
	}
	u := agreement.UntrustedError{Values: values}
	if newest, ok := r.Newest(); ok {
		u.Was = newest.Values
	} else {
		u.Tasks, u.Frozen = e.Tasks(), e.frozen(values)
	}
	return u.In(e.place.Root)
}

// frozen are the values that the task under way was frozen with and that differ from those of the files.
func (e *Engine) frozen(now []trust.Value) []trust.Value {
	snap, err := e.View()
	if err != nil || !snap.Task.Underway() {
		return nil
	}
	gate, err := e.Gate(snap)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(gate.Executable(), func(v trust.Value) bool {
		return slices.ContainsFunc(now, func(is trust.Value) bool { return is.Key == v.Key && is.Value == v.Value })
	})
}

// accepted records a person's word on the part of the configuration that is frozen with a task. What was agreed to of the
// rest stays as it was: the person has not seen more. A record that cannot be written costs a question later.
func (e *Engine) accepted(conf config.Config) {
	p := e.opts.Project
	if p == nil {
		return
	}
	r, _, err := p.Record()
	if err == nil {
		newest, _ := r.Newest()
		values := conf.Gate().Executable()
		for _, v := range newest.Values {
			same := func(is trust.Value) bool { return is.Key == v.Key }
			if !config.InGate(v.Key) && !slices.ContainsFunc(values, same) {
				values = append(values, v)
			}
		}
		err = p.Agree(values)
	}
	if err != nil {
		e.log.Warn("the agreement was not recorded", "error", err)
	}
}
