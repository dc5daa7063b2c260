package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Context is the project that the doctor looks at. What was read is remembered until something may have changed.
type Context struct {
	Ctx    context.Context
	A      *cli.App
	Place  project.Place
	backup string // where the journal's second link belongs; "" without git

	adopt bool // a person takes the journal as it is

	both    *store.Copies // of the journal
	opened  *engine.Engine
	read    *journal
	openErr error
}

// A journal is what a walk over all lines has shown.
type journal struct {
	last  *store.Line // nil when there is none
	lines int
	size  int64            // of the file; more than where the last line ends when something is torn
	ended []store.Snapshot // how each task stood at its end, oldest first
	err   error            // where the walk ended early

	remote bool // somebody has acted over HTTP
}

func (p *Context) file(name string) string { return filepath.Join(p.Place.Dir(), name) }

// engine opens the machine.
func (p *Context) engine() (*engine.Engine, error) {
	if p.opened == nil && p.openErr == nil {
		p.opened, p.openErr = p.A.OpenToReadAt(p.Place)
	}
	return p.opened, p.openErr
}

// Forget lets what was read be read again.
func (p *Context) Forget() {
	if p.opened != nil {
		p.opened.Close()
	}
	p.opened, p.openErr, p.read, p.both = nil, nil, nil, nil
}

// journal reads the journal. It takes no lock and changes nothing.
func (p *Context) journal() *journal {
	if p.read != nil {
		return p.read
	}
	j := &journal{}
	p.read = j
	e, err := p.engine()
	if err != nil {
		j.err = err
		return j
	}
	info, err := os.Stat(p.file("journal.jsonl"))
	if err != nil {
		j.err = err
		return j
	}
	j.size = info.Size()
	for l, err := range e.Store().History() {
		if err != nil {
			j.err = err
			break
		}
		if l.Event == state.Reset && j.last != nil {
			j.ended = append(j.ended, engine.After(j.last))
		}
		if l.To != l.From && l.To.Over() {
			j.ended = append(j.ended, engine.After(l))
		}
		j.last = l
		j.lines++
		j.remote = j.remote || engine.OverHTTP(l.Actor.Session)
	}
	return j
}

// end is where the last whole line ends.
func (j *journal) end() int64 {
	if j.last == nil {
		return 0
	}
	return j.last.End
}

// absent reports that the journal is not there at all.
func (p *Context) absent() bool {
	_, err := os.Lstat(p.file("journal.jsonl"))
	return errors.Is(err, fs.ErrNotExist)
}
