package engine

import (
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/environ"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// Environ returns the variables that are frozen with the task; nil without a task, and for one that an older ferrus made.
func (e *Engine) Environ(snap store.Snapshot) (environ.Frozen, error) {
	ref, ok := snap.Task.Docs[store.EnvironDoc]
	if !ok {
		return nil, nil
	}
	e.mu.Lock()
	frozen, ok := e.environs[ref.SHA256]
	e.mu.Unlock()
	if ok {
		return frozen, nil
	}
	text, err := e.store.Text(snap, store.EnvironDoc)
	if err != nil {
		return nil, refusal.From(err)
	}
	if frozen, err = environ.Decode(text); err != nil {
		return nil, &refusal.RefusedError{Code: refusal.Corrupt, Message: err.Error(), Remedy: "a person runs ferrus config accept", Person: true}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.environs[ref.SHA256] = frozen
	return frozen, nil
}

// Environment is what the task's commands run with, NAME=value.
func (e *Engine) Environment(snap store.Snapshot) ([]string, error) {
	frozen, err := e.Environ(snap)
	return frozen.Apply(os.Environ()), err
}

// personal is what a new task freezes: the environment of the person whose command this is, else that of the newest
// command of a person in this project; nil where none is known.
func (e *Engine) personal() environ.Frozen {
	if e.opts.Environ != nil {
		return environ.Freeze(e.opts.Environ)
	}
	if e.opts.Project == nil {
		return nil
	}
	r, found, err := e.opts.Project.Record()
	if err != nil || !found || r.Environ == nil {
		return nil
	}
	return r.Environ
}

// RecordEnviron records the environment of a person's command, for tasks that agents make. Where it cannot, those have
// that of the last time.
func (e *Engine) RecordEnviron() {
	if e.opts.Environ == nil || e.opts.Project == nil {
		return
	}
	if err := RecordEnviron(e.opts.Project, e.opts.Environ); err != nil {
		e.log.Debug("the environment of this command is not recorded", "error", err)
	}
}

// RecordEnviron records the environment, NAME=value, of a person's command in a project. It makes no record: that is a
// matter of agreement.
func RecordEnviron(p *trust.Project, env []string) error {
	now := environ.Freeze(env)
	r, found, err := p.Record()
	if err != nil || !found || r.Environ != nil && maps.Equal(r.Environ, now) {
		return err
	}
	return p.Update(func(r *trust.Record) error {
		r.Environ = now
		return nil
	})
}

// freeze returns the documents that freeze a gate, and the environment where it is known, with a task.
func (e *Engine) freeze(gate config.Gate) map[state.Doc]string {
	docs := map[state.Doc]string{store.GateDoc: string(gate.Encode())}
	if frozen := e.personal().Without(gate.Checks.EnvDeny); frozen != nil {
		docs[store.EnvironDoc] = frozen.Encode()
	}
	return docs
}

// otherEnviron lists the variables of this process that decide what a program is and are not those frozen with the task.
// For a person's command it is nil: a person may change the shell.
func (e *Engine) otherEnviron(snap store.Snapshot) []string {
	if e.opts.Environ != nil {
		return nil
	}
	frozen, err := e.Environ(snap)
	if err != nil {
		return nil
	}
	sum := snap.Task.Docs[store.EnvironDoc].SHA256
	e.mu.Lock()
	defer e.mu.Unlock()
	names, ok := e.differs[sum]
	if !ok {
		names = frozen.Differ(os.Environ())
		e.differs[sum] = names
	}
	return names
}

// environChange is how the environment frozen with the task differs from one that is to be frozen, as text: none where it
// does not, or where that is "". It names variables and no values.
func (e *Engine) environChange(now store.Snapshot, next string) []config.Change {
	was, err := e.store.Text(now, store.EnvironDoc)
	if next == "" || err == nil && next == was {
		return nil
	}
	change := config.Change{Key: "environment", Pinned: "none", Now: "this command's own"}
	before, wrong := environ.Decode(was)
	after, err := environ.Decode(next)
	if was == "" || wrong != nil || err != nil {
		return []config.Change{change}
	}
	change.Pinned = "another"
	if names := before.Changed(after); len(names) > 0 {
		change.Now += ", with another " + strings.Join(names, ", ")
	}
	return []config.Change{change}
}

// maxNamed is how many variables are named one by one.
const maxNamed = 8

// EnvironNotice tells that variables of this server which decide what a program is are not those of the task; "" where all
// are. It is for the results that say what ran, not for every one: clients give their servers variables of their own.
func (st Status) EnvironNotice() string {
	names := st.Environ
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return "environment: " + strings.Join(names, ", ") + more + " of this server are not as they were frozen with the task; the checks run with " +
		"those of the task. " + refusal.OnBranch(st.Task.Branch, "ferrus config accept") + " freezes the environment of the terminal in which it is run"
}
