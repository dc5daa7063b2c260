// Package doctor checks a project's own files, and fixes what can be fixed without a person: the journal
// and its hard-linked copy, the generated files, branches, archives, locks, and what lies in place of
// ferrus's folders.
//
// A [Check] looks at one thing and changes nothing; its finding says what is wrong and what helps. Where
// ferrus can help, the check also has a fix. [Checks] lists them in the order in which fixing one helps
// the next, and [Context.Examine] runs them, and the caller's own checks after them. A check of files runs up
// to three times before its trouble counts, because a command may be writing at the moment.
//
// What a check reads is remembered in the [Context] until something may have changed. Nothing is printed.
// What depends on the program around it, such as the log of an engine, is given as a [Host].
package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Host is the program that checks a project.
type Host struct {
	// Options returns the options of the engines that are opened for the project at root.
	Options func(root string) (engine.Options, error)
	// SetUp sets a project up again that has lost its folder. restored says that its journal came back, wrote
	// names the files that were missing, relative to root.
	SetUp func(ctx context.Context, root string) (restored bool, wrote []string, err error)
}

// A Context is the project that is checked. What was read is remembered until something may have changed.
type Context struct {
	Ctx   context.Context
	Place project.Place

	host   Host
	adopt  bool   // a person takes the journal as it is
	backup string // path of the journal's hard-linked copy; "" without git

	both    *file.Copies // of the journal
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

// New returns the context of the machine at a place, which need not be there any more. With adopt a fix accepts a journal
// that was not made here, or whose end is lost, as the project's own. The caller calls Forget at the end.
func New(ctx context.Context, place project.Place, host Host, adopt bool) *Context {
	return &Context{Ctx: ctx, Place: place, host: host, adopt: adopt, backup: place.Backup()}
}

// Path returns the path of a file of the machine.
func (p *Context) Path(name string) string { return filepath.Join(p.Place.Dir(), name) }

// Engine opens the machine for reading, also one that was not made here. Forget closes it.
func (p *Context) Engine() (*engine.Engine, error) {
	if p.opened == nil && p.openErr == nil {
		p.opened, p.openErr = p.open(p.Place, true)
	}
	return p.opened, p.openErr
}

func (p *Context) open(place project.Place, look bool) (*engine.Engine, error) {
	opts, err := p.host.Options(place.Root)
	if err != nil {
		return nil, err
	}
	opts.Look = look
	return engine.Open(place, opts)
}

// adoptJournal records the journal as it stands as this machine's own.
func (p *Context) adoptJournal() error {
	e, err := p.open(p.Place, true)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.Adopt()
}

// Forget closes the machine, and lets what was read be read again.
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
	e, err := p.Engine()
	if err != nil {
		j.err = err
		return j
	}
	if !p.Place.InDatabase() {
		info, err := os.Stat(p.Path("journal.jsonl"))
		if err != nil {
			j.err = err
			return j
		}
		j.size = info.Size()
	}
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
		j.remote = j.remote || live.IsSession(l.Actor.Session)
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

// shared reports whether the machine is in a database, also where the folder of the project is gone.
func (p *Context) shared() bool { return p.Place.InDatabase() || p.Place.Forgotten() }

// absent reports that there is no file of the journal where one belongs.
func (p *Context) absent() bool {
	if p.shared() {
		return false
	}
	_, err := os.Lstat(p.Path("journal.jsonl"))
	return errors.Is(err, fs.ErrNotExist)
}
