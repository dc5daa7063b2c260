package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Notices are what each result on a task may have beside its own matter: that frozen values are not those of ferrus.toml, that files
// are being moved, that control files were edited, that a person acted without a terminal.

// Facts are what the notices of a task are made of.
type Facts struct {
	Task    state.Task
	Differs []config.Change // where ferrus.toml differs from the gate in force
	Broken  string          // why ferrus.toml cannot be read; "" when it can
	Environ []string        // the variables of this server that are not those frozen with the task
}

// All returns what every result tells its reader beside its own matter: that the gate in force is not that of
// ferrus.toml, that control files were edited, that a person acted without a terminal. While there is one, no rule approves the
// task.
func All(st Facts) []string {
	var out []string
	for _, c := range st.Differs {
		out = append(out, "config_changed: "+format.OneLine(c.String(), handover.MaxLine)+"; the frozen value holds until a person runs "+
			refusal.OnBranch(st.Task.Branch, "ferrus config accept{branch}"))
	}
	if n := len(out) - maxNotices; n > 0 {
		out = append(out[:maxNotices], fmt.Sprintf("config_changed: and %d more", n))
	}
	if st.Broken != "" {
		out = append(out, "config_broken: "+format.OneLine(st.Broken, handover.MaxLine))
	}
	if finish := refusal.Finishing(st.Task); finish != "" {
		what := fmt.Sprintf("rollback: files are being moved back to entry %d", st.Task.Returning.To)
		if from := st.Task.Returning.From; from != "" {
			what = "merge: files of the branch " + from + " are being moved in"
		}
		out = append(out, what+"; a person finishes that by "+finish)
	}
	if remedy := checkrun.WrittenDuring(st.Task.Check).Remedy(st.Task.Branch, checkrun.TheChecks, checkrun.IgnoreFile); remedy != "" {
		out = append(out, "checks_write: files changed while check "+st.Task.Check.ID+" ran, so that it does not count. "+remedy)
	}
	if why := st.Task.Unpublished; why != "" {
		out = append(out, "unpublished: other computers do not have the newest files of this task: "+why)
	}
	if n := st.Task.Violations; n > 0 {
		out = append(out, "violation: control files were edited from outside in this task and put back, "+format.Count(n, "time", "times")+"; use the tools")
	}
	times := map[string]int{}
	full := len(st.Task.Unattended) >= state.MaxRecords // those that were forgotten may be others
	for _, r := range st.Task.Unattended {
		if full || !beginnings[state.Event(r.ID)] {
			times[r.ID]++
		}
	}
	var acts []string
	for _, event := range slices.Sorted(maps.Keys(times)) {
		acts = append(acts, fmt.Sprintf("%s (%d)", event, times[event]))
	}
	if len(acts) > 0 {
		out = append(out, "done without a terminal, in a person's name: "+strings.Join(acts, ", "))
	}
	return out
}

// beginnings are the events by which a task begins, in the project or on a branch. That a script has made the task is nothing that
// anybody who looks at its work must be told: every task of a script begins so, and its log says it.
var beginnings = map[state.Event]bool{state.CreateTask: true, state.Branch: true}

// maxNotices is how many changed values of ferrus.toml are listed one by one.
const maxNotices = 3

// maxNamed is how many variables are named one by one.
const maxNamed = 8

// Environ tells that variables of this server which decide what a program is are not those of the task; "" where all
// are. It is for the results that say what ran, not for every one: clients give their servers variables of their own.
func Environ(st Facts) string {
	names := st.Environ
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return "environment: " + strings.Join(names, ", ") + more + " of this server are not those that were frozen with the task; the checks run with " +
		"those of the task. " + refusal.OnBranch(st.Task.Branch, "ferrus config accept{branch}") + " freezes the environment of the terminal in which it is run"
}

// Failed tells which delegates of a task ended without their part of the work: a line each.
func Failed(t state.Task) (list []string) {
	for _, d := range t.Delegates {
		if !d.Open() && d.Ended != state.DelegateComplete {
			list = append(list, fmt.Sprintf("delegate %s has ended: %s; ferrus log says why", d.ID, d.Ended))
		}
	}
	return list
}
