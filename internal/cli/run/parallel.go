package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	branchcli "github.com/ferrus-go/ferrus/internal/cli/branch"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A fleetWatcher prints what happens on many branches, a line each, and on a terminal, below them, a live line for each branch that
// waits for commands.
type fleetWatcher struct {
	cli.Footer
	a     *cli.App
	words watcher

	mu    sync.Mutex
	waits *waits
	lines map[string]string // the live lines of waits, by branch
}

func newFleetWatcher(a *cli.App) *fleetWatcher {
	w := &fleetWatcher{Footer: cli.Footer{On: a}, a: a, words: watcher{a: a}, lines: map[string]string{}}
	live := a.OutTTY && !a.JSON
	w.waits = newWaits(&w.mu, live, func(branch, line string) {
		if live {
			w.lines[branch] = line
			w.draw()
		} else {
			w.line(time.Now(), branch, w.a.Paint("", line), "")
		}
	})
	return w
}

// close takes the live lines away.
func (w *fleetWatcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for branch := range w.waits.of {
		w.settle(branch)
	}
	w.Erase()
}

func (w *fleetWatcher) tell(e schedule.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.a.JSON {
		_ = w.a.PrintJSONLine(e)
		return
	}
	w.settle(e.Branch)
	text := format.Clip(format.Line(e.Text), 160)
	if e.Kind == schedule.Merged && text != "" {
		text = "; " + text
	}
	w.line(time.Now(), e.Branch, w.a.Paint(fleetColour[e.Kind], fleetWords[e.Kind]+text), e.Output)
	if e.Kind == schedule.Merging {
		w.waits.begin(e.Branch, "merging")
	}
}

// hear prints what a conductor tells.
func (w *fleetWatcher) hear(branch string, e conductor.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.At.IsZero() {
		e.At = time.Now()
	}
	if w.a.JSON {
		_ = w.a.PrintJSONLine(struct {
			Branch string `json:"branch"`
			conductor.Event
		}{branch, e})
		return
	}
	if e.Kind == conductor.Stopping && w.a.OutTTY {
		w.a.Say("\r") // over the ^C that the terminal has shown
	}
	w.settle(branch)
	w.line(e.At, branch, w.words.words(e), "")
	if e.Kind == conductor.Trying || e.Kind == conductor.Confirming {
		w.waits.begin(branch, "running the checks")
	}
}

// follow takes the log of commands of a branch that have begun to run.
func (w *fleetWatcher) follow(branch, log string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.a.JSON {
		w.waits.follow(branch, log)
	}
}

// settle ends what is shown of a wait. The caller holds the lock.
func (w *fleetWatcher) settle(branch string) {
	w.waits.end(branch)
	delete(w.lines, branch)
}

// line prints a line, and output that belongs to it, above the live lines.
func (w *fleetWatcher) line(at time.Time, branch string, text cli.Styled, output string) {
	w.Erase()
	w.a.Say("%s  %-14s  %s\n", format.Clock(at), w.a.Name(branch, 14), text)
	w.a.ShowOutput(output, "          ")
	w.draw()
}

// draw shows the live lines.
func (w *fleetWatcher) draw() {
	var rows []string
	for _, branch := range slices.Sorted(maps.Keys(w.lines)) {
		rows = append(rows, fmt.Sprintf("%-14s  %s", branch, w.lines[branch]))
	}
	w.Draw(rows, make([]string, len(rows)))
}

var (
	fleetWords = map[schedule.EventKind]string{schedule.Taken: "taken from the queue: ", schedule.Begun: "in progress", schedule.Left: "finished ",
		schedule.Scored: "scored ", schedule.Merging: "is being merged", schedule.Merged: "merged into the project", schedule.Unmerged: "not merged: ", schedule.Unready: "blocked: ", schedule.Trouble: "problem: "}
	fleetColour = map[schedule.EventKind]string{schedule.Merged: cli.Green, schedule.Unmerged: cli.Yellow, schedule.Unready: cli.Yellow, schedule.Trouble: cli.Red, schedule.Begun: cli.Dim, schedule.Left: cli.Dim}
)

// conductMany sees the branches and the queue through.
func conductMany(a *cli.App, ctx context.Context, how conducting) error {
	r, err := prepare(a, ctx, how)
	if err != nil {
		return err
	}
	defer r.Engine().Close()
	root := r.Engine().Place().Root
	opts, err := a.Options(root)
	if err != nil {
		return err
	}
	cli.IgnoreHangup()
	defer a.Notifies(ctx, root)()
	w := newFleetWatcher(a)
	out, err := schedule.Run(ctx, root, schedule.Options{Parallel: how.parallel, Until: how.Until, Caller: r.Caller, Engine: opts, Tell: w.tell, Follow: w.follow,
		Conduct: func(branch string, e *engine.Engine) (conductor.Options, error) { return r.ofBranch(ctx, w, branch, e) }})
	w.close()
	switch {
	case errors.Is(err, conductor.ErrStopped):
		exit := cli.ExitOfSignal(ctx)
		if a.JSON {
			if err := a.PrintJSONLine(map[string]any{"kind": "end", "exit": exit, "branches": []schedule.BranchStatus{}}); err != nil {
				return err
			}
		} else {
			a.Say("stopped; the tasks are unchanged and their agents have ended\n")
			a.ShowSteps([]status.Step{{Command: fmt.Sprintf("ferrus run --parallel %d", how.parallel), Why: "continues"}, {Command: "ferrus branches", Why: ""}})
		}
		return cli.ExitWith(exit)
	case err != nil:
		return err
	}
	return endedMany(a, out, how.parallel)
}

// ofBranch are the options of the conductor of a branch, whose events are printed.
func (p *preparation) ofBranch(ctx context.Context, w *fleetWatcher, branch string, e *engine.Engine) (conductor.Options, error) {
	conf, err := e.Config()
	if err == nil {
		err = cli.CheckContinuable(ctx, e, conf, false)
	}
	opts := p.options(conf)
	opts.Headless, opts.Tell = true, func(e conductor.Event) { w.hear(branch, e) }
	return opts, err
}

// endedMany shows how all stands, and what is for a person to do.
func endedMany(a *cli.App, out schedule.Outcome, parallel int) error {
	if a.JSON {
		tasks, blocked := out.Tasks, out.Blocked
		if tasks == nil {
			tasks = []schedule.BranchStatus{}
		}
		if blocked == nil {
			blocked = []schedule.Blocked{}
		}
		if err := a.PrintJSONLine(map[string]any{"kind": "end", "exit": out.Exit, "queued": out.Queued, "blocked": blocked, "branches": tasks}); err != nil {
			return err
		}
		return exitCode(out.Exit)
	}
	if len(out.Tasks) == 0 && out.Queued == 0 && len(out.Blocked) == 0 {
		return cli.Refuse(refusal.WrongState, "there is nothing to do: no branch has a task, and the queue is empty",
			`ferrus task --branch NAME "what is to be done" creates one`)
	}
	var list []branch.Attempt
	var next []status.Step
	for _, t := range out.Tasks {
		list = append(list, t.Attempt)
		next = append(next, nextOf(t)...)
	}
	a.Say("\n")
	if len(list) > 0 {
		branchcli.ShowAttempts(a, list)
	}
	for _, t := range out.Tasks {
		if t.Unmerged != "" {
			a.ShowRow(t.Branch, a.Paint(cli.Yellow, "not merged: "+format.Line(t.Unmerged)))
		}
		if t.Trouble != "" {
			a.ShowRow(t.Branch, a.Paint(cli.Red, format.Line(t.Trouble)))
		}
	}
	for _, b := range out.Blocked {
		a.ShowRow(b.Name, a.Paint(cli.Yellow, "blocked: "+format.Line(b.Why)))
	}
	if len(out.Blocked) > 0 {
		next = append(next, status.Step{Command: "ferrus queue", Why: "shows what ends that tasks are blocked"})
	}
	if out.Exit == conductor.ExitLate {
		a.ShowRow("ended", "because --until has passed")
		if out.Queued > 0 {
			a.ShowRow("queue", format.Count(out.Queued, "task", "tasks"))
		}
		next = append([]status.Step{{Command: fmt.Sprintf("ferrus run --parallel %d", parallel), Why: "continues"}}, next...)
	}
	a.ShowSteps(append(next[:min(len(next), maxSteps)], status.Step{Command: "ferrus branches", Why: "compares them"}))
	return exitCode(out.Exit)
}

// maxSteps is how many next steps are named after a run of many tasks.
const maxSteps = 5

func exitCode(code int) error {
	if code == cli.ExitOK {
		return nil
	}
	return cli.ExitWith(code)
}

// nextOf is what a person does about a branch as it stands.
func nextOf(t schedule.BranchStatus) []status.Step {
	on := " --branch " + t.Branch
	switch {
	case t.State == state.AwaitingHuman:
		return []status.Step{{Command: "ferrus answer" + on + ` "..."`, Why: "answers the question of " + t.Branch}}
	case t.State == state.Failed:
		return []status.Step{{Command: "ferrus status" + on, Why: "shows why " + t.Branch + " failed"}}
	case t.Clashes:
		return []status.Step{{Command: "ferrus merge " + t.Branch + " --resolve", Why: "gives " + t.Branch + " back to its executor with the project's changes"}}
	case t.State == state.Complete && !t.Merged:
		return []status.Step{{Command: "ferrus merge " + t.Branch, Why: "merges it into the project"}}
	}
	return nil
}
