// Package cli is what the commands of ferrus share: the App that a command runs in, how it finds and opens a project, how it
// prints for people and for programs, and how an error becomes an exit code. Each group of commands has a package of its own
// below; internal/cli/root puts them together.
//
// Start reading at root/root.go.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// An App is what a command runs in: the streams, and the flags that all commands share.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool // in is a terminal
	OutTTY   bool
	ErrTTY   bool
	Colour   bool     // on stdout
	window   *os.File // the terminal that stdout leads to; nil when its size is not known
	keyboard *os.File // where In reads from; nil in tests

	Dir, Branch string
	JSON        bool
	errorsJSON  bool           // errors are JSON although the rest is text: the caller is a screen or a page
	Via         string         // what a person acts by, when it is not this command line: ui or web
	Shown       engine.Subject // what the person decides on, as far as the command names it
	Resume      bool           // the run continues after the decision, if it has ended
	Run         Runner         // runs another command in this process; internal/cli/root sets it
	Parsed      bool           // the command line was valid
	at          *project.Place // the machine that the command acts on; nil until it is found
	qualified   map[string]any // what every report in JSON has beside its own keys; see Qualify
}

// NewApp returns the App of a process with these streams.
func NewApp(in, out, err *os.File) *App {
	a := &App{In: in, Out: out, Err: err, InTTY: terminal(in), OutTTY: terminal(out), ErrTTY: terminal(err), window: out, keyboard: in}
	a.Colour = a.OutTTY && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && colourful(out)
	return a
}

// Terminal is the terminal that the process has: where keys come from, and where a screen is drawn.
func (a *App) Terminal() (in, out *os.File) { return a.keyboard, a.window }

// WorkingDir is the folder that the command was told to work in, as an absolute path without links.
func (a *App) WorkingDir() (string, error) {
	dir, err := filepath.Abs(cmp.Or(a.Dir, os.Getenv("FERRUS_ROOT"), "."))
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", Refuse(refusal.InvalidInput, dir+" is not a folder", "name the project with -C DIR")
	}
	return dir, nil
}

// Place finds the machine that the command means. With an error it may name where the machine was.
func (a *App) Place(ctx context.Context) (project.Place, error) {
	dir, err := a.WorkingDir()
	if err != nil {
		return project.Place{}, err
	}
	place, err := project.Find(ctx, dir)
	if err != nil {
		if gone, ok := lost(dir); ok {
			var remedy refusal.Own = "ferrus doctor{branch} --fix restores it from the hard-linked copy of its journal"
			if gone.Forgotten() {
				remedy = "ferrus doctor{branch} --fix makes it again; its tasks are in the database"
			}
			return gone, Refuse(refusal.NotInitialised, gone.Dir()+" is gone (git clean -fdx?)", remedy)
		}
		return place, err
	}
	if a.Branch != "" {
		if place, err = place.On(a.Branch); err != nil {
			return place, err
		}
	}
	a.warnOutdated(place.Root)
	a.at = &place
	return place, nil
}

// on is the branch that the command acts on.
func (a *App) on() string {
	if a.at == nil {
		return a.Branch
	}
	return a.at.Branch
}

// Remedy is the remedy of a failure, whose commands name the branch that the command acts on.
func (a *App) Remedy(f *Failure) string {
	return f.Remedy.On(a.on())
}

// Commands names the branch that the command acts on in the commands of a text of ours.
func (a *App) Commands(text refusal.Own) string { return refusal.OnBranch(a.on(), text) }

// Open opens the machine that the command means. The caller closes it.
func (a *App) Open(ctx context.Context) (*engine.Engine, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	return a.OpenAt(place)
}

// OpenToRead opens the machine that the command means for reading: also one that was not made here, of which the first line that
// is printed says so, and each report in JSON. The caller closes it.
func (a *App) OpenToRead(ctx context.Context) (*engine.Engine, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	e, err := a.OpenToReadAt(place)
	if err == nil {
		a.WarnForeign(e.Foreign())
	}
	return e, err
}

// OpenToReadAt opens the machine at a place for reading, also one that was not made here. The caller closes it.
func (a *App) OpenToReadAt(place project.Place) (*engine.Engine, error) {
	opts, err := a.Options(place.Root)
	if err != nil {
		return nil, err
	}
	opts.Look = true
	return engine.Open(place, opts)
}

// WarnForeign warns that state which was not made here is only shown; nil is our own. A program that reads JSON from stdout
// finds it in each report, as the member foreign, and on stderr.
func (a *App) WarnForeign(err error) {
	to := a.Out
	if a.JSON {
		to = a.Err
	}
	a.WarnForeignTo(to, err)
}

// WarnForeignTo is WarnForeign for a command whose stdout is for programs.
func (a *App) WarnForeignTo(to io.Writer, err error) {
	var r *refusal.RefusedError
	if !errors.As(err, &r) {
		return
	}
	a.Qualify("foreign", map[string]string{"message": r.Message, "remedy": r.Remedy.On(a.on())})
	Fprintf(to, "not made here: %s\n  ferrus shows it as text and uses nothing in it; %s\n\n", r.Message, r.Remedy.On(a.on()))
}

// OpenView opens the machine and reads how it stands. The caller closes it.
func (a *App) OpenView(ctx context.Context) (*engine.Engine, store.Snapshot, error) {
	e, err := a.OpenToRead(ctx)
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

// OpenAt opens the machine at a place. The caller closes it.
func (a *App) OpenAt(place project.Place) (*engine.Engine, error) {
	opts, err := a.Options(place.Root)
	if err != nil {
		return nil, err
	}
	return engine.Open(place, opts)
}

// Options are those of every engine that a command opens.
func (a *App) Options(root string) (engine.Options, error) {
	project, err := trust.Open(root)
	return engine.Options{Log: Warnings(a.Err), Project: project, Environ: os.Environ()}, err
}

// Warnings logs what a person must know, without the time.
func Warnings(w io.Writer) *slog.Logger {
	plain := func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey || attr.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return attr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: plain}))
}

// OpenAsPerson opens the machine for an act of a person.
func (a *App) OpenAsPerson(ctx context.Context, verb string) (*engine.Session, error) {
	if err := a.RefuseAgent(verb); err != nil {
		return nil, err
	}
	e, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	now, err := e.View()
	switch {
	case refusal.CodeOf(err) == refusal.ForeignState:
		e.Close()
		if e, err = a.restoredBackup(ctx, err); err != nil {
			return nil, err
		}
	case err == nil:
		if err := a.Shown.Present(now.Task); err != nil { // the engine sees to it again, under the lock
			e.Close()
			return nil, err
		}
	}
	return a.Deciding(e), nil
}

// Deciding is a person's session on a machine that is open, for acts on what the command names alone.
func (a *App) Deciding(e *engine.Engine) *engine.Session {
	s := a.SessionOn(e)
	s.On = a.Shown
	return s
}

// SessionOn is a person's session on a machine that is open.
func (a *App) SessionOn(e *engine.Engine) *engine.Session {
	e.RecordEnviron()
	return e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: a.InTTY || a.ErrTTY, Via: a.Via, Tree: proc.Ancestry()})
}

// RefuseAgent refuses a person's verb in a shell of an agent: one that says so in its environment, or that descends from an
// agent of the project. It stops accidents, and an agent that only removes the variable.
func (a *App) RefuseAgent(verb string) error {
	if agent := os.Getenv("FERRUS_AGENT"); agent != "" {
		return Refuse(refusal.ForbiddenRole, "ferrus "+verb+" is for people, and this shell belongs to the agent "+agent+
			" (FERRUS_AGENT is set)", "an agent uses its tools; a person runs this in another shell")
	}
	dir, err := a.WorkingDir()
	if err != nil {
		return err
	}
	place, err := project.Find(context.Background(), dir)
	if err != nil {
		return nil // there is no project yet, and so no agent of it
	}
	return RefuseAgentOf(place.Root, verb, proc.AgentAbove)
}

// RefuseAgentOf refuses a person's verb in a shell that descends from an agent of the project at root, by what above says.
func RefuseAgentOf(root, verb string, above func(root string) (proc.Agent, bool)) error {
	if agent, ok := above(root); ok {
		return Refuse(refusal.ForbiddenRole, "ferrus "+verb+" is for people, and this process descends from the agent "+agent.String(),
			"an agent uses its tools; a person runs this in a terminal that the agent did not start")
	}
	return nil
}

// ProjectSession opens the project's own machine for an act of a person, wherever the command was called.
func (a *App) ProjectSession(ctx context.Context, verb string) (*engine.Session, error) {
	if err := a.RefuseAgent(verb); err != nil {
		return nil, err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	place = project.At(place.Root, "")
	a.at = &place
	e, err := a.OpenAt(place)
	if err != nil {
		return nil, err
	}
	return a.SessionOn(e), nil
}

// lost finds where there was a machine, in dir or above it: a .ferrus that was deleted has left its journal's second
// link, or the machine is in a database.
func lost(dir string) (project.Place, bool) {
	for ; ; dir = filepath.Dir(dir) {
		place := project.At(dir, "")
		backup := place.Backup()
		if rootfs.Exists(backup) || place.Forgotten() {
			return place, true
		}
		if backup == "" || dir == filepath.Dir(dir) {
			return place, false
		}
	}
}
