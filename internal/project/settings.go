package project

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// SettingsOptions are what [NewSettings] needs beyond the store.
type SettingsOptions struct {
	Project *trust.Project // the record of the project; nil where the caller answers for what its files make run
	Environ []string       // NAME=value, of the person whose command this is; nil in a server
	Log     *slog.Logger   // never nil
}

// Settings are what is configured: ferrus.toml with the person's own configuration laid over it, and what a task was frozen
// with. They may be used by several goroutines.
type Settings struct {
	root    string
	store   store.Machine
	record  *trust.Project
	environ []string
	log     *slog.Logger

	mu       sync.Mutex
	conf     latest[config.Config] // ferrus.toml
	own      latest[config.Person]
	gates    map[string]config.Gate
	environs map[string]proc.Frozen
	differs  map[string][]string // the variables of this process that differ from those frozen
}

// NewSettings returns the settings of the project at root, whose machine s is the store of.
func NewSettings(root string, s store.Machine, opts SettingsOptions) *Settings {
	return &Settings{root: root, store: s, record: opts.Project, environ: opts.Environ, log: opts.Log, conf: latest[config.Config]{value: config.Default()},
		gates: map[string]config.Gate{}, environs: map[string]proc.Frozen{}, differs: map[string][]string{}}
}

// Know gives the gate with a checksum, so that it need not be read from the journal.
func (s *Settings) Know(sum string, gate config.Gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates[sum] = gate
}

// Locks describes who holds the lock of the settings, and waits for nobody.
func (s *Settings) Locks() string { return store.Mutex(s.mu.TryLock, s.mu.Unlock) }

// Config returns ferrus.toml as it is now, with the person's own configuration laid over it. When a file is broken it
// returns the last ferrus.toml that was valid, or the defaults, together with the error.
func (s *Settings) Config() (config.Config, error) {
	conf, err := s.projectConfig()
	if err != nil || s.record == nil {
		return conf, err
	}
	path, err := config.PersonPath()
	if err != nil {
		return conf, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, err := s.own.read(path, config.ReadPerson)
	if err != nil {
		return conf, err
	}
	return conf.With(own), nil
}

// Person returns the person's own configuration as it is now. When it is broken it returns the last that was valid, with the error.
func (s *Settings) Person() (config.Person, error) {
	path, err := config.PersonPath()
	if err != nil {
		return config.Person{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own.read(path, config.ReadPerson)
}

func (s *Settings) projectConfig() (config.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conf.read(filepath.Join(s.root, config.FileName), config.Load)
}

// A latest is what a file said when it was last read and valid.
type latest[T any] struct {
	value  T
	loaded bool
	at     os.FileInfo // of the file then; nil when there was none
}

// read returns what the file at path says, by load where the file has changed. With an error it returns what it said before.
func (l *latest[T]) read(path string, load func(path string) (T, error)) (T, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		info = nil
		if l.loaded && l.at == nil {
			return l.value, nil
		}
	case err != nil:
		return l.value, err
	case rootfs.Unchanged(l.at, info) && l.at.Mode() == info.Mode():
		return l.value, nil
	}
	value, err := load(path)
	if err != nil {
		return l.value, err
	}
	l.value, l.loaded, l.at = value, true, info
	return value, nil
}

// Gate returns what judges the task: the gate pinned to it, or that of ferrus.toml when there is no task. The executor is that
// of the branch, if it has its own, and the one to which a rule gave the work before both.
func (s *Settings) Gate(snap store.Snapshot) (config.Gate, error) {
	gate, err := s.gate(snap)
	t := snap.Task
	return gate.As(t.Variant.Agent, t.Variant.Model).As(t.Assigned.Agent, t.Assigned.Model), err
}

func (s *Settings) gate(snap store.Snapshot) (config.Gate, error) {
	sum := snap.Task.Pin.SHA256
	if sum == "" {
		conf, err := s.Config()
		return conf.Gate(), err
	}
	s.mu.Lock()
	gate, ok := s.gates[sum]
	s.mu.Unlock()
	if ok {
		return gate, nil
	}
	text, err := store.Gate(s.store, snap)
	if err != nil {
		return gate, err
	}
	if gate, err = config.DecodeGate(text); err != nil {
		return gate, &refusal.RefusedError{Code: refusal.Corrupt, Message: "the frozen gate cannot be read: " + err.Error(),
			Remedy: "a person runs ferrus config accept{branch}"}
	}
	s.mu.Lock()
	s.gates[sum] = gate
	s.mu.Unlock()
	return gate, nil
}

// Limits are the sizes of the task's budgets.
func (s *Settings) Limits(snap store.Snapshot) (state.Limits, error) {
	gate, err := s.Gate(snap)
	return state.Limits{CheckRetries: gate.Limits.MaxCheckRetries, ReviewCycles: gate.Limits.MaxReviewCycles}, err
}

// Environ returns the variables that are frozen with the task; nil without a task, and for one that an older ferrus made.
func (s *Settings) Environ(snap store.Snapshot) (proc.Frozen, error) {
	ref, ok := snap.Task.Docs[store.EnvironDoc]
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	frozen, ok := s.environs[ref.SHA256]
	s.mu.Unlock()
	if ok {
		return frozen, nil
	}
	text, err := store.Text(s.store, snap, store.EnvironDoc)
	if err != nil {
		return nil, err
	}
	if frozen, err = proc.Decode(text); err != nil {
		return nil, &refusal.RefusedError{Code: refusal.Corrupt, Message: err.Error(), Remedy: "a person runs ferrus config accept{branch}", Person: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environs[ref.SHA256] = frozen
	return frozen, nil
}

// Environment is what the task's commands run with, NAME=value.
func (s *Settings) Environment(snap store.Snapshot) ([]string, error) {
	frozen, err := s.Environ(snap)
	return frozen.Apply(os.Environ()), err
}

// Personal is what a new task freezes: the environment of the person whose command this is, else that of the newest
// command of a person in this project; nil where none is known.
func (s *Settings) Personal() proc.Frozen {
	if s.environ != nil {
		return proc.Freeze(s.environ)
	}
	if s.record == nil {
		return nil
	}
	r, found, err := s.record.Record()
	if err != nil || !found || r.Environ == nil {
		return nil
	}
	return r.Environ
}

// RecordEnviron records the environment of a person's command, for tasks that agents make. Where it cannot, those have
// that of the last time.
func (s *Settings) RecordEnviron() {
	if s.environ == nil || s.record == nil {
		return
	}
	if err := RecordEnviron(s.record, s.environ); err != nil {
		s.log.Debug("the environment of this command is not recorded", "error", err)
	}
}

// RecordEnviron records the environment, NAME=value, of a person's command in a project. It makes no record: that is a
// matter of agreement.
func RecordEnviron(p *trust.Project, env []string) error {
	now := proc.Freeze(env)
	r, found, err := p.Record()
	if err != nil || !found || r.Environ != nil && maps.Equal(r.Environ, now) {
		return err
	}
	return p.Update(func(r *trust.Record) error {
		r.Environ = now
		return nil
	})
}

// Freeze returns the documents that freeze a gate, and the environment where it is known, with a task.
func (s *Settings) Freeze(gate config.Gate) map[state.Doc]string {
	docs := map[state.Doc]string{store.GateDoc: string(gate.Encode())}
	if frozen := s.Personal().Without(gate.Checks.EnvDeny); frozen != nil {
		docs[store.EnvironDoc] = frozen.Encode()
	}
	return docs
}

// OtherEnviron lists the variables of this process that decide what a program is and are not those frozen with the task.
// For a person's command it is nil: a person may change the shell.
func (s *Settings) OtherEnviron(snap store.Snapshot) []string {
	if s.environ != nil {
		return nil
	}
	frozen, err := s.Environ(snap)
	if err != nil {
		return nil
	}
	sum := snap.Task.Docs[store.EnvironDoc].SHA256
	s.mu.Lock()
	defer s.mu.Unlock()
	names, ok := s.differs[sum]
	if !ok {
		names = frozen.Differ(os.Environ())
		s.differs[sum] = names
	}
	return names
}

// EnvironChange is how the environment frozen with the task differs from one that is to be frozen, as text: none where it
// does not, or where that is "". It names variables and no values.
func (s *Settings) EnvironChange(now store.Snapshot, next string) []config.Change {
	was, err := store.Text(s.store, now, store.EnvironDoc)
	if next == "" || err == nil && next == was {
		return nil
	}
	change := config.Change{Key: "environment", Pinned: "none", Now: "this command's own"}
	before, wrong := proc.Decode(was)
	after, err := proc.Decode(next)
	if was == "" || wrong != nil || err != nil {
		return []config.Change{change}
	}
	change.Pinned = "another"
	if names := before.Changed(after); len(names) > 0 {
		change.Now += ", with another " + strings.Join(names, ", ")
	}
	return []config.Change{change}
}
