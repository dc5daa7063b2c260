package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// doneRows are about a phase whose workers are all done.
var doneRows = []row{
	{
		name: "pause", when: "all workers of the phase are done, it has `pause_after`, and nobody has resumed it",
		fits: func(f Facts) bool {
			return f.done(f.Status.CurrentPhase) && f.current().PauseAfter && f.current().ResumedBy == ""
		},
		then: "pause: summarize to the user, wait", do: Pause,
		fill: func(f Facts, a *Action) { a.Tell = f.summary() },
	},
	{
		name: "deliver", when: "the last phase is done, nobody else is at work, and who delivers by itself no longer lives",
		fits: func(f Facts) bool {
			role, _ := f.Workflow.Final()
			return f.done(f.last()) && len(f.all(is(Running))) == 0 && len(f.all(is(Pending))) == 0 &&
				!(f.Workflow.ByTerminal() && f.Workers[role].Alive)
		},
		then: "deliver: the final output becomes `final.md` and is sent, once", do: Deliver,
		fill: func(f Facts, a *Action) { f.result(a) },
	},
	{
		name: "complete", when: "all workers of the phase are done, and there is a next one",
		fits: func(f Facts) bool { return f.done(f.Status.CurrentPhase) && f.Status.CurrentPhase < f.last() },
		then: "complete phase: the next one is the current", do: Finish,
	},
}

// workerRows are about single workers, in any started phase.
var workerRows = []row{
	{
		name: "dialogue", when: "the phase is a dialogue, none of whose workers has failed",
		fits: func(f Facts) bool {
			return f.talking() && !f.done(f.Status.CurrentPhase) && !has(f.current(), f.bad) && len(f.missing()) == 0
		},
		then: "what the table of dialogues says",
		fill: func(f Facts, a *Action) {
			row := a.Row
			*a = decide(f, turns)
			a.Row = row + ": " + a.Row
		},
	},
	{
		name: "respawn", when: "a worker ended without its output, or not well, it has `retries` left, and a place is free",
		fits: func(f Facts) bool { return len(f.all(f.another)) > 0 && (f.Workflow.All() || f.free() > 0) },
		then: "respawn: put aside what it wrote, start it anew", do: Restart,
		fill: func(f Facts, a *Action) {
			a.Roles = f.all(f.another)[:1]
			a.Aside, a.Why = f.aside(a.Roles), f.how(a.Roles[0])
		},
	},
	{
		name: "exited", when: "a worker ended without its output",
		fits: func(f Facts) bool { return len(f.all(f.exited)) > 0 },
		then: "fail worker, tell the user", do: FailWorker,
		fill: func(f Facts, a *Action) {
			a.Roles = f.all(f.exited)[:1]
			a.Aside = f.aside(a.Roles)
			a.Reason, a.Why = f.reason(a.Roles[0]), f.how(a.Roles[0])
			f.tellOne(a)
		},
	},
	{
		name: "timeout", when: "a worker runs, or waits for its inputs, past its time and " + fmt.Sprint(Grace.Seconds()) + " s more",
		fits: func(f Facts) bool { return len(f.all(f.overdue)) > 0 },
		then: "fail worker: end it, tell the user", do: FailWorker,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Reason = f.all(f.overdue)[:1], TimedOut
			a.Aside = f.aside(a.Roles)
			a.Why = f.tooLong(a.Roles[0])
			f.tellOne(a)
		},
	},
	{
		name: "input", when: "a worker is due, and what it reads is not there",
		fits: func(f Facts) bool { return len(f.missing()) > 0 },
		then: "fail phase with `missing_input`, tell the user", do: FailPhase,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Reason = f.missing()[:1], MissingInput
			a.Why = fmt.Sprintf("%s reads %s, which is not there", a.Roles[0], list(f.lost(a.Roles[0])))
			f.tellPhase(a)
		},
	},
	{
		name: "spawn", when: "a worker is pending, its turn has come, and a place is free",
		fits: func(f Facts) bool { return len(f.due()) > 0 },
		then: "spawn: all of them that fit", do: Start,
		fill: func(f Facts, a *Action) { a.Roles = f.due(); f.tellStart(a) },
	},
}

// restRows are the remaining rows.
var restRows = []row{
	{
		name: "failed", when: "a phase has a worker that failed, and nobody in it runs or will",
		fits: func(f Facts) bool { return f.lostPhase() >= 0 },
		then: "fail phase, tell the user", do: FailPhase,
		fill: func(f Facts, a *Action) {
			a.Phase = f.lostPhase()
			a.Why = f.whatFailed(a.Phase)
			f.tellPhase(a)
		},
	},
	{
		name: "watchdog", when: "`watchdog` is on, there is an output, and nobody lives",
		fits: func(f Facts) bool {
			return f.Workflow.Watched() && len(f.living()) == 0 && len(f.outputs()) > 0 && f.hasFailed() && !f.onlyAsking()
		},
		then: "watchdog deliver: all outputs, marked PARTIAL, once", do: Watchdog,
		fill: func(f Facts, a *Action) { f.partial(a) },
	},
	{
		name: "stopped", when: "the run has failed, and nobody runs",
		fits: func(f Facts) bool { return f.hasFailed() && len(f.all(is(Running))) == 0 },
		then: "wait for a person: `ferrus pipeline retry` or `cancel`, or a late output", do: Wait,
		fill: func(f Facts, a *Action) {
			a.Person, a.Why, a.Until = true, cmp.Or(f.Status.Failure, "a phase has failed"), f.next()
		},
	},
	{
		name: "asking", when: "a worker waits for an answer, and nobody else is at work",
		fits: Facts.onlyAsking,
		then: "wait for a person: `ferrus answer --run`", do: Wait,
		fill: func(f Facts, a *Action) { a.Person, a.Why, a.Until = true, f.openText(), f.next() },
	},
	{
		name: "wait", when: "otherwise: somebody is at work",
		fits: func(Facts) bool { return true },
		then: "wait: nothing is written", do: Wait,
		fill: func(f Facts, a *Action) { a.Until = f.next() },
	},
}

// exited reports whether a running worker has exited without output.
func (f Facts) exited(s WorkerStatus) bool {
	return s.Status == Running && !f.Workers[s.Role].Alive && !f.inDialogue(s) && !f.Stands(s.Role)
}

// another reports whether the worker failed and will be started again.
func (f Facts) another(s WorkerStatus) bool {
	k, _ := f.Workflow.Worker(s.Role)
	seen := f.seen(s)
	unclean := s.Status == Completed && s.Reason == Unclean && !k.AcceptPartial
	return (f.exited(s) || unclean) && !seen.Alive && !seen.GaveUp && s.Attempt-seen.Moved-f.continued(s) <= k.Retries
}

func (f Facts) overdue(s WorkerStatus) bool {
	return s.Status == Running && f.Workers[s.Role].Alive && f.late(s.Role) && !f.inDialogue(s)
}

// strays returns live workers that are no longer needed.
func (f Facts) strays() []string {
	return f.all(func(s WorkerStatus) bool {
		return f.Workers[s.Role].Alive && (s.Status == Failed || s.Status == Completed && f.late(s.Role))
	})
}

// due returns the pending workers that may start now. With spawn all these are all of them.
// Otherwise they are workers of the current phase for which there is a place; in a sequential phase
// the first that is not done.
func (f Facts) due() []string {
	waits := func(s WorkerStatus) bool { return s.Status == Pending && !f.Workers[s.Role].Alive }
	if f.Workflow.All() {
		return f.all(waits)
	}
	if f.current().Status == Failed || f.talking() {
		return nil
	}
	roles := f.in(f.Status.CurrentPhase, waits)
	if f.mode() == workflow.Sequential {
		next := slices.IndexFunc(f.current().Workers, func(s WorkerStatus) bool { return !f.good(s) })
		if next < 0 || !slices.Contains(roles, f.current().Workers[next].Role) {
			return nil
		}
		roles = []string{f.current().Workers[next].Role}
	}
	return roles[:min(len(roles), f.free())]
}

// missing returns the due workers whose inputs are missing. With spawn all they wait for them
// instead.
func (f Facts) missing() []string {
	if f.Workflow.All() {
		return nil
	}
	roles := f.due()
	if f.talking() && f.current().Status != Failed {
		roles = f.in(f.Status.CurrentPhase, is(Pending))
	}
	return slices.DeleteFunc(slices.Clone(roles), func(role string) bool { return len(f.lost(role)) == 0 })
}

// lostPhase returns a phase that cannot finish by itself and is not marked as failed; -1 when there
// is none.
func (f Facts) lostPhase() int {
	for i, p := range f.Status.Phases {
		if !f.started(i) || p.Status == Failed || p.Status == Completed || !has(p, f.bad) || has(p, is(Running)) {
			continue
		}
		if how := f.Workflow.Phases[i].How(); how == workflow.Parallel && has(p, is(Pending)) {
			continue
		}
		return i
	}
	return -1
}

// outputs returns the roles whose output exists.
func (f Facts) outputs() []string {
	var a Action
	f.partial(&a)
	return a.Roles
}

func (f Facts) hasFailed() bool {
	return slices.ContainsFunc(f.Status.Phases, func(p PhaseStatus) bool { return p.Status == Failed })
}

func (f Facts) mode() workflow.Mode { return f.Workflow.Phases[f.Status.CurrentPhase].How() }
func (f Facts) talking() bool       { return f.mode() == workflow.Talking }

// inDialogue reports whether the table of dialogues decides about the worker. It does not if a
// worker of the phase has failed.
func (f Facts) inDialogue(s WorkerStatus) bool {
	_, i := f.Workflow.Worker(s.Role)
	return f.Workflow.Phases[i].How() == workflow.Talking && !has(f.Status.Phases[i], f.bad)
}
