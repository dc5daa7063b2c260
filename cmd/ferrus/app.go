package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/ancestry"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// An app is what a command runs in: the streams, and the flags that all commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	inTTY    bool // in is a terminal
	outTTY   bool
	errTTY   bool
	colour   bool     // on stdout
	window   *os.File // the terminal that stdout leads to; nil when its size is not known

	dir, branch string
	json        bool
	parsed      bool          // the command line was sound
	at          *engine.Place // the machine that the command acts on; nil until it is found
}

func newApp(in, out, err *os.File) *app {
	a := &app{in: in, out: out, err: err, inTTY: terminal(in), outTTY: terminal(out), errTTY: terminal(err), window: out}
	a.colour = a.outTTY && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && colourful(out)
	return a
}

// where is the folder that the command was told to work in, as an absolute path without links.
func (a *app) where() (string, error) {
	dir, err := filepath.Abs(cmp.Or(a.dir, os.Getenv("FERRUS_ROOT"), "."))
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", refuse(engine.InvalidInput, dir+" is not a folder", "name the project with -C DIR")
	}
	return dir, nil
}

// place finds the machine that the command means. With an error it may name where the machine was.
func (a *app) place(ctx context.Context) (engine.Place, error) {
	dir, err := a.where()
	if err != nil {
		return engine.Place{}, err
	}
	place, err := engine.Find(ctx, dir)
	if err != nil {
		if gone, ok := lost(dir); ok {
			return gone, refuse(engine.NotInitialised, gone.Dir()+" is gone (git clean -fdx?)",
				"ferrus doctor --fix restores it from its journal's second link")
		}
		return place, err
	}
	if a.branch != "" {
		if place, err = place.On(a.branch); err != nil {
			return place, err
		}
	}
	a.at = &place
	return place, nil
}

// commands names the branch that the command acts on in the commands of a text.
func (a *app) commands(text string) string {
	if a.at == nil {
		return engine.Commands(a.branch, text)
	}
	return engine.Commands(a.at.Branch, text)
}

// open opens the machine that the command means. The caller closes it.
func (a *app) open(ctx context.Context) (*engine.Engine, error) {
	place, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	return a.openAt(place)
}

// look opens the machine that the command means for reading: also one that was not made here, of which the first line that
// is printed says so. The caller closes it.
func (a *app) look(ctx context.Context) (*engine.Engine, error) {
	place, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	e, err := a.lookAt(place)
	if err == nil {
		a.warnForeign(e.Foreign())
	}
	return e, err
}

func (a *app) lookAt(place engine.Place) (*engine.Engine, error) {
	opts, err := a.options(place.Root)
	if err != nil {
		return nil, err
	}
	opts.Look = true
	return engine.Open(place, opts)
}

// warnForeign says of state that was not made here that it is only shown; nil is ours. A program that reads JSON from stdout
// finds it on stderr.
func (a *app) warnForeign(err error) {
	var r *engine.Refusal
	if !errors.As(err, &r) {
		return
	}
	to := a.out
	if a.json {
		to = a.err
	}
	say(to, "not made here: %s\n  it is shown as text, and nothing in it is used; %s\n\n", r.Message, a.commands(r.Remedy))
}

// view opens the machine and reads how it stands. The caller closes it.
func (a *app) view(ctx context.Context) (*engine.Engine, store.Snapshot, error) {
	e, err := a.look(ctx)
	if err != nil {
		return nil, store.Snapshot{}, err
	}
	now, err := e.View()
	if err != nil {
		e.Close()
		return nil, store.Snapshot{}, err
	}
	return e, now, nil
}

func (a *app) openAt(place engine.Place) (*engine.Engine, error) {
	opts, err := a.options(place.Root)
	if err != nil {
		return nil, err
	}
	return engine.Open(place, opts)
}

// options are those of every engine that a command opens.
func (a *app) options(root string) (engine.Options, error) {
	project, err := trust.Open(root)
	return engine.Options{Log: warnings(a.err), Project: project, Environ: os.Environ()}, err
}

// warnings logs what a person must know, without the time.
func warnings(w io.Writer) *slog.Logger {
	plain := func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey || attr.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return attr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: plain}))
}

// person opens the machine for an act of a person.
func (a *app) person(ctx context.Context, verb string) (*engine.Session, error) {
	if err := a.refuseAgent(verb); err != nil {
		return nil, err
	}
	e, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := e.View(); engine.CodeOf(err) == engine.ForeignState {
		e.Close()
		if e, err = a.restoredBackup(ctx, err); err != nil {
			return nil, err
		}
	}
	return a.sessionOn(e), nil
}

// sessionOn is a person's session on a machine that is open.
func (a *app) sessionOn(e *engine.Engine) *engine.Session {
	e.RecordEnviron()
	return e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: a.inTTY || a.errTTY, Tree: ancestry.Tree()})
}

// refuseAgent refuses a person's verb in a shell of an agent: one that says so in its environment, or that descends from an
// agent of the project. It stops accidents, and an agent that only removes the variable.
func (a *app) refuseAgent(verb string) error {
	if agent := os.Getenv("FERRUS_AGENT"); agent != "" {
		return refuse(engine.ForbiddenRole, "ferrus "+verb+" is a person's, and this shell belongs to the agent "+agent+
			" (FERRUS_AGENT is set)", "an agent acts by its tools; a person says this in a shell of their own")
	}
	dir, err := a.where()
	if err != nil {
		return err
	}
	place, err := engine.Find(context.Background(), dir)
	if err != nil {
		return nil // there is no project yet, and so no agent of it
	}
	if agent, ok := ancestry.Below(place.Root); ok {
		return refuse(engine.ForbiddenRole, "ferrus "+verb+" is a person's, and this process descends from the agent "+agent.String(),
			"an agent acts by its tools; a person says this in a terminal that the agent did not start")
	}
	return nil
}
