package status

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// PhaseWords is a phase in a line. i counts from 0.
func PhaseWords(i int, p pipeline.PhaseStatus) string {
	done := 0
	for _, k := range p.Workers {
		if k.Status == pipeline.Completed {
			done++
		}
	}
	return fmt.Sprintf("%d %-20s  %-9s  %d of %s done", i+1, p.ID, p.Status, done, format.Count(len(p.Workers), "worker", "workers"))
}

// WorkerWords is a worker in a line.
func WorkerWords(v run.View, k pipeline.WorkerStatus, now time.Time) string {
	text := fmt.Sprintf("%-20s  %-9s  %s", k.Role, k.Status, doing(v, k, now))
	if k.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", k.Attempt)
	}
	return strings.TrimRight(text, " ")
}

// Printed returns the last lines that the command of a failed worker printed, nil for any other
// worker.
func Printed(v run.View, k pipeline.WorkerStatus) []string {
	worker, _ := v.Facts.Workflow.Worker(k.Role)
	list := v.Runs[k.Role]
	if worker.Run == "" || k.Status != pipeline.Failed || len(list) == 0 || list[len(list)-1].Said == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(list[len(list)-1].Said, "\n") {
		lines = append(lines, format.Line(line))
	}
	return lines
}

// doing says what is to be said of a worker beside its status.
func doing(v run.View, k pipeline.WorkerStatus, now time.Time) string {
	switch k.Status {
	case pipeline.Completed:
		text := fmt.Sprintf("%s, %s", k.Output, format.Count(int(k.Bytes), "byte", "bytes"))
		if list := v.Runs[k.Role]; len(list) > 0 && list[len(list)-1].Over() {
			newest := list[len(list)-1]
			if !newest.Launched.IsZero() { // it has waited before
				newest.Started = newest.Launched
			}
			text += ", after " + format.Duration(newest.Lasted(now))
		}
		if k.Reason != "" {
			text += ", " + strings.ReplaceAll(string(k.Reason), "_", " ")
		}
		if first := v.Facts.Files[k.Output].First; first != "" {
			text += fmt.Sprintf("  %q", format.Clip(first, 50))
		}
		return text
	case pipeline.Failed:
		text := strings.ReplaceAll(string(k.Reason), "_", " ")
		if k.Detail != "" {
			text += ": " + format.Line(k.Detail)
		}
		return strings.TrimPrefix(text, ": ")
	case pipeline.Running:
		return atWork(v, k, now)
	}
	if w := v.Facts.Workflow.Waits(k.Role); len(w) > 0 {
		return "reads " + strings.Join(w, ", ")
	}
	return ""
}

// atWork says since when a worker works or waits, for how long it may, and what it does.
func atWork(v run.View, k pipeline.WorkerStatus, now time.Time) string {
	began, runs := k.StartedAt, v.Runs[k.Role]
	if !k.ReadyAt.IsZero() {
		began = k.ReadyAt
	}
	text := format.Duration(now.Sub(began))
	if !k.Deadline.IsZero() {
		text += " of " + format.Duration(k.Deadline.Sub(began))
	}
	if v.Facts.Asks(k.Role) {
		return "is waiting for your answer"
	}
	switch lost := v.Facts.Lost(k.Role); {
	case v.Facts.Workers[k.Role].Waiting && len(lost) > 0:
		return "waits for " + strings.Join(lost, ", ") + ", " + text
	case v.Facts.Workers[k.Role].Waiting:
		return "waits for a free slot, " + text
	case len(runs) == 0:
		return text
	}
	newest := runs[len(runs)-1]
	text += ", " + newest.Agent
	reading := process.Read(newest)
	if u := Usage(reading.Usage); u != "" {
		text += ", " + u
	}
	if reading.Doing != "" {
		text += "  " + format.Clip(format.Line(reading.Doing), 50)
	}
	return text
}

// onward are the commands that help a run, the most likely first.
func onward(l *RunStatus) []Step {
	verb := func(v string) string { return "ferrus pipeline " + v + " " + l.Run }
	explain, cancel := Step{verb("explain"), "shows the rule that applies, and the events"}, Step{verb("cancel"), "cancels it and its workers"}
	if open := l.View.Facts.Open(); len(open) > 0 && !l.Archived {
		var list []Step
		for _, q := range open {
			_, options := handover.SplitOptions(q.Text)
			list = append(list, Step{answerCommand(l.Run, q.ID, options), "answers " + q.Role})
		}
		return append(list, explain, cancel)
	}
	switch {
	case l.Archived && l.result != "":
		return []Step{{"cat " + l.result, "the result"}, {verb("rerun") + " --from ROLE", "repeats it from there in a new folder"}, explain}
	case l.Archived:
		return []Step{{verb("rerun"), "takes it up again in a new folder"}, explain}
	case l.View.Facts.Delivery.State == pipeline.Uncertain:
		return []Step{{verb("deliver") + " --confirm", "if the result arrived"}, {verb("deliver") + " --again", "if it did not"}, explain}
	case l.Status.State == pipeline.IsPaused && l.View.Action.Person:
		return []Step{{verb("resume"), "continues"}, {verb("retry") + " --from ROLE", "starts that worker or phase again"}, cancel}
	case l.Status.State == pipeline.IsFailed && l.View.Action.Person:
		list := []Step{{verb("retry"), "starts the failed workers again"}, {verb("logs") + " " + l.culprit(), "shows its output"}, cancel}
		if l.acceptable() {
			list = append([]Step{{verb("resume"), "accepts the outputs as they are"}}, list...)
		}
		return list
	case l.deserted():
		return []Step{{verb("resume"), "continues it; so does ferrus tick"}, cancel}
	}
	return []Step{{verb("logs") + " -f", "shows the output of the newest worker"}, explain, cancel}
}

// culprit is the worker that failed first.
func (l *RunStatus) culprit() string {
	for _, p := range l.Status.Phases {
		for _, k := range p.Workers {
			if k.Status == pipeline.Failed || k.Reason == pipeline.Unclean {
				return k.Role
			}
		}
	}
	return ""
}

// acceptable reports whether the run failed only because workers with an output did not end well.
func (l *RunStatus) acceptable() bool {
	f := l.View.Facts
	f.Intent = pipeline.Intent{Verb: pipeline.Resume}
	return pipeline.Decide(f).Do == pipeline.Accept
}
