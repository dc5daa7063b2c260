package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/fleet"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A fleetWatcher prints what happens on many branches, a line each.
type fleetWatcher struct {
	a     *app
	mu    sync.Mutex
	words watcher
}

func (w *fleetWatcher) tell(e fleet.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.a.json {
		_ = w.a.printLine(e)
		return
	}
	text := clip(line(e.Text), 160)
	if e.Kind == fleet.Merged && text != "" {
		text = "; " + text
	}
	w.line(time.Now(), e.Branch, w.a.paint(fleetColour[e.Kind], fleetWords[e.Kind]+text))
}

// hear prints what a conductor tells.
func (w *fleetWatcher) hear(branch string, e hq.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.At.IsZero() {
		e.At = time.Now()
	}
	if w.a.json {
		_ = w.a.printLine(struct {
			Branch string `json:"branch"`
			hq.Event
		}{branch, e})
		return
	}
	if e.Kind == hq.Stopping && w.a.outTTY {
		w.a.say("\r") // over the ^C that the terminal has shown
	}
	w.line(e.At, branch, w.words.words(e))
}

func (w *fleetWatcher) line(at time.Time, branch string, text ink) {
	w.a.say("%s  %-14s  %s\n", clock(at), clip(branch, 14), text)
}

var (
	fleetWords = map[fleet.EventKind]string{fleet.Taken: "taken from the queue: ", fleet.Begun: "begun", fleet.Left: "left ",
		fleet.Merging: "is being merged", fleet.Merged: "merged into the project", fleet.Unmerged: "not merged: ", fleet.Trouble: "trouble: "}
	fleetColour = map[fleet.EventKind]string{fleet.Merged: green, fleet.Unmerged: yellow, fleet.Trouble: red, fleet.Begun: dim, fleet.Left: dim}
)

// conductMany sees the branches and the queue through.
func (a *app) conductMany(ctx context.Context, how conducting) error {
	s, err := a.project(ctx, "run")
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	conf, err := soundConfig(e)
	if err != nil {
		return err
	}
	if err := a.agreed(e, e.Trusted); err != nil {
		return err
	}
	if err := ready(ctx, conf.Gate(), e.Place().Root); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	opts, err := a.options(e.Place().Root)
	if err != nil {
		return err
	}
	outlive()
	w := &fleetWatcher{a: a}
	w.words = watcher{a: a}
	out, err := fleet.Run(ctx, e.Place().Root, fleet.Options{Parallel: how.parallel, Caller: s.Caller, Engine: opts, Tell: w.tell,
		Conduct: func(branch string, e *engine.Engine) (hq.Options, error) {
			conf, err := e.Config()
			if err == nil {
				err = continuable(ctx, e, conf.Gate(), false)
			}
			return hq.Options{Headless: true, Hurry: how.now, Ferrus: self, Lease: conf.Lease, Environ: os.Environ(),
				Tell: func(e hq.Event) { w.hear(branch, e) }}, err
		}})
	var taken *hq.BusyError
	switch {
	case errors.As(err, &taken):
		return a.busy(taken)
	case errors.Is(err, hq.ErrStopped):
		exit := exitOfSignal(ctx)
		if a.json {
			if err := a.printLine(map[string]any{"kind": "end", "exit": exit, "branches": []fleet.Standing{}}); err != nil {
				return err
			}
		} else {
			a.say("stopped; the tasks are as they were and their agents are ended\n")
			a.next([]step{{fmt.Sprintf("ferrus run --parallel %d", how.parallel), "goes on from here"}, {"ferrus branches", ""}})
		}
		return unwell(exit)
	case err != nil:
		return err
	}
	return a.endedMany(out)
}

// endedMany shows how all stands, and what is for a person to do.
func (a *app) endedMany(out fleet.Outcome) error {
	if a.json {
		tasks := out.Tasks
		if tasks == nil {
			tasks = []fleet.Standing{}
		}
		if err := a.printLine(map[string]any{"kind": "end", "exit": out.Exit, "branches": tasks}); err != nil {
			return err
		}
		return exitWith(out.Exit)
	}
	if len(out.Tasks) == 0 {
		return refuse(engine.WrongState, "there is nothing to do: no branch has a task, and none waits in .ferrus/queue",
			`ferrus task --branch NAME "what is to be done" makes one`)
	}
	var list []engine.Attempt
	var next []step
	for _, t := range out.Tasks {
		list = append(list, t.Attempt)
		next = append(next, nextOf(t)...)
	}
	a.say("\n")
	a.showAttempts(list)
	for _, t := range out.Tasks {
		if t.Unmerged != "" {
			a.row(t.Branch, a.paint(yellow, "not merged: "+line(t.Unmerged)))
		}
		if t.Trouble != "" {
			a.row(t.Branch, a.paint(red, line(t.Trouble)))
		}
	}
	a.next(append(next[:min(len(next), maxSteps)], step{"ferrus branches", "compares them"}))
	return exitWith(out.Exit)
}

// maxSteps is how many next steps are named after a run of many tasks.
const maxSteps = 5

func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return unwell(code)
}

// nextOf is what a person does about a branch as it stands.
func nextOf(t fleet.Standing) []step {
	on := " --branch " + t.Branch
	switch {
	case t.State == state.AwaitingHuman:
		return []step{{"ferrus answer" + on + ` "..."`, "answers what " + t.Branch + " asks"}}
	case t.State == state.Failed:
		return []step{{"ferrus status" + on, "shows why " + t.Branch + " failed"}}
	case t.Clashes:
		return []step{{"ferrus merge " + t.Branch + " --resolve", "gives " + t.Branch + " back with the project's changes"}}
	case t.State == state.Complete && !t.Merged:
		return []step{{"ferrus merge " + t.Branch, "brings it into the project"}}
	}
	return nil
}
