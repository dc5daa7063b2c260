package enginetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Fakes makes a folder in which programs of these names exit with 0, whatever they are asked.
func (p *Machine) Fakes(names ...string) string {
	p.T.Helper()
	dir := filepath.Join(p.Side, "fakes")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.T.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
			p.T.Fatal(err)
		}
	}
	return dir
}

// AsPerson is the project for a person's commands, which have an environment.
func (p *Machine) AsPerson() *Machine {
	q := *p
	q.Opts.Environ = os.Environ()
	return &q
}

// Recorded gives the project its record, as the command line does.
func (p *Machine) Recorded() *Machine {
	p.T.Helper()
	record, err := trust.Open(p.Dir)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Opts.Project = record
	return p
}

// Values are what the project's files make run.
func (p *Machine) Values() []trust.Value {
	p.T.Helper()
	conf, err := config.Load(p.Path(config.FileName))
	if err != nil {
		p.T.Fatal(err)
	}
	return agreement.Executable(p.Dir, conf)
}

// Agreed has a person agree to the project's files.
func (p *Machine) Agreed() *Machine {
	p.T.Helper()
	if err := p.Opts.Project.Agree(p.Values()); err != nil {
		p.T.Fatal(err)
	}
	return p
}

// Works makes n tasks, each after the one before was given up.
func (p *Machine) Works(n int) *Machine {
	p.T.Helper()
	for range n {
		h := p.Human()
		if View(p.T, h).Task.State != state.Idle {
			Must(h.Reset(p.T.Context(), ""))(p.T)
		}
		Must(h.CreateTask(p.T.Context(), "mine", ""))(p.T)
		h.Engine().Close()
	}
	return p
}

// Judged is what opening the project and looking at it says.
func (p *Machine) Judged() error {
	e, err := engine.Open(project.At(p.Dir, ""), p.Opts)
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.View()
	return err
}

// Replace puts a file in the place of another, as git does: it removes the one and makes the other.
func (p *Machine) Replace(name string, data []byte) {
	p.T.Helper()
	path := filepath.Join(p.Dir, ".ferrus", filepath.FromSlash(name))
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.T.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		p.T.Fatal(err)
	}
}

func (p *Machine) Journal() []byte { return []byte(p.Read(".ferrus/journal.jsonl")) }

// First is the hash of the journal's first line.
func (p *Machine) First() string {
	p.T.Helper()
	for l, err := range p.Engine().Store().History() {
		if err != nil {
			p.T.Fatal(err)
		}
		return l.H
	}
	return ""
}

// Linked replaces a folder below .ferrus by a link to the neighbours, or to itself as it was, moved among them.
func (p *Machine) Linked(name string, moved bool) (link string) {
	p.T.Helper()
	link = p.Path(".ferrus/" + name)
	target := p.Path("../outside")
	if moved {
		target = p.Path("../outside/moved")
		if err := os.Rename(link, target); err != nil && !os.IsNotExist(err) {
			p.T.Fatal(err)
		}
	}
	rel, err := filepath.Rel(filepath.Dir(link), target)
	if err == nil {
		err = os.RemoveAll(link)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(link), 0o700)
	}
	if err == nil {
		err = os.Symlink(rel, link)
	}
	if err != nil {
		p.T.Fatal(err)
	}
	return link
}
