package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// endRows are about a run that has ended.
var endRows = []row{
	{
		name: "foreign", when: "`status.json` is not that of a run of this workflow",
		fits: func(f Facts) bool { return f.Status.Fits(f.Workflow) != nil },
		then: "wait for a person", do: Wait,
		fill: func(f Facts, a *Action) { a.Person, a.Why = true, f.Status.Fits(f.Workflow).Error() },
	},
	{
		name: "sent", when: "the final worker's last words contain `sent_marker`, and its output is there",
		fits: func(f Facts) bool { return f.sent() },
		then: "confirm: the final output becomes `final.md`, and the result is delivered", do: Confirm,
		fill: func(f Facts, a *Action) {
			role, file := f.Workflow.Final()
			a.Phase, a.Roles, a.File, a.By = f.last(), []string{role}, file, role
			a.Why = fmt.Sprintf("the worker %s sent the result: its last words contain %s", role, f.Workflow.Marker())
			a.Tell = fmt.Sprintf("Pipeline %s: the worker %s sent the result.", f.Status.Dir, role)
		},
	},
	{
		name: "archive", when: "the result is delivered, or the run cancelled, and nobody lives",
		fits: func(f Facts) bool { return f.finished() && len(f.living()) == 0 },
		then: "archive: move the folder", do: Archive,
	},
	{
		name: "parting", when: "the result is delivered, and somebody has not had " + parting.String() + " to leave",
		fits: func(f Facts) bool { return f.Status.ResultDelivered && f.Now.Before(f.parted()) },
		then: "wait", do: Wait,
		fill: func(f Facts, a *Action) { a.Until = f.parted() },
	},
	{
		name: "leftover", when: "the result is delivered, or the run cancelled, and somebody lives",
		fits: func(f Facts) bool { return f.finished() },
		then: "kill: end who lives", do: Kill,
		fill: func(f Facts, a *Action) { a.Roles, a.Why = f.living(), "the run is over" },
	},
	{
		name: "cancel", when: "a person cancels",
		fits: func(f Facts) bool { return f.Intent.Verb == Cancel },
		then: "cancel: end who lives, start nobody any more", do: Cancel,
		fill: func(f Facts, a *Action) {
			a.Roles, a.Why, a.By = f.living(), "cancelled by "+orSomebody(f.Intent.By), f.Intent.By
		},
	},
}

// deliveryRows are about a delivery in progress.
var deliveryRows = []row{
	{
		name: "confirm", when: "nobody knows whether the result arrived, and a person says that it did",
		fits: func(f Facts) bool { return f.doubtful() && f.Intent.Verb == Confirm },
		then: "confirm: the result is delivered", do: Confirm,
		fill: func(f Facts, a *Action) { a.By = f.Intent.By },
	},
	{
		name: "again", when: "nobody knows whether the result arrived, and a person wants it sent again",
		fits: func(f Facts) bool { return f.doubtful() && f.Intent.Verb == Again },
		then: "deliver once more", do: Deliver,
		fill: func(f Facts, a *Action) { f.result(a); a.By = f.Intent.By },
	},
	{
		name: "sending", when: "somebody who lives is delivering",
		fits: func(f Facts) bool { return f.underway() && f.Delivery.Alive },
		then: "wait", do: Wait,
		fill: func(f Facts, a *Action) { a.Until = f.Now.Add(settling) },
	},
	{
		name: "doubt", when: "who delivered died while it sent",
		fits: func(f Facts) bool { return f.Delivery.State == Sending },
		then: "settle: verify, or say that it is uncertain", do: Settle,
	},
	{
		name: "uncertain", when: "nobody knows whether the result arrived",
		fits: func(f Facts) bool { return f.Delivery.State == Uncertain },
		then: "wait for a person: `ferrus pipeline deliver --confirm` or `--again`", do: Wait,
		fill: func(f Facts, a *Action) {
			a.Person, a.Why = true, "the result may have been sent to "+f.Delivery.Target+", and may not"
		},
	},
}

// finished reports whether the run needs nothing more.
func (f Facts) finished() bool { return f.Status.ResultDelivered || f.Status.State == IsCancelled }

// living returns all live workers, of any phase.
func (f Facts) living() []string {
	var roles []string
	for _, p := range f.Status.Phases {
		for _, s := range p.Workers {
			if f.Workers[s.Role].Alive {
				roles = append(roles, s.Role)
			}
		}
	}
	return roles
}

// parted returns when every worker must have exited after the delivery.
func (f Facts) parted() time.Time {
	if f.Delivery.At.After(f.Now) { // the clock was put back
		return f.Now.Add(parting)
	}
	return f.Delivery.At.Add(parting)
}

func (f Facts) doubtful() bool { return f.Delivery.State == Uncertain }
func (f Facts) underway() bool { return f.Delivery.State == Claimed || f.Delivery.State == Sending }

// result fills in the result to deliver.
func (f Facts) result(a *Action) {
	role, file := f.Workflow.Final()
	a.Phase = f.last()
	if f.done(f.last()) {
		a.Roles, a.File = []string{role}, file
		return
	}
	a.Do = Watchdog
	f.partial(a)
}

// partial fills in the parts of a result that exist.
func (f Facts) partial(a *Action) {
	a.Phase = f.last()
	for _, p := range f.Status.Phases {
		for _, s := range p.Workers {
			if _, there := f.Files[s.Output]; s.Status == Completed && there {
				if !slices.Contains(a.Roles, s.Role) {
					a.Roles = append(a.Roles, s.Role)
				}
			}
			if !f.good(s) {
				a.Missing = append(a.Missing, s.Role)
			}
		}
	}
	a.Tell = fmt.Sprintf("Pipeline %s: nobody is left, so what there is was delivered, marked PARTIAL. Missing: %s.", f.Status.Dir,
		strings.Join(a.Missing, ", "))
}

func orSomebody(who string) string {
	if who == "" {
		return "a person"
	}
	return who
}
