package pipeline

import (
	"fmt"
	"strings"
)

// reason returns why a worker that has exited has failed.
func (f Facts) reason(role string) Reason {
	switch seen := f.seen(*f.Status.Worker(role)); {
	case seen.GaveUp:
		return TimedOut
	case seen.Trouble != "":
		return NotStarted
	}
	return NoOutput
}

// how describes how a worker that has exited ended.
func (f Facts) how(role string) string {
	s := *f.Status.Worker(role)
	k, _ := f.Workflow.Worker(role)
	seen := f.seen(s)
	without := "without " + k.File()
	if file, there := f.Files[k.File()]; there {
		without = fmt.Sprintf("and %s has %d bytes of at least %d", k.File(), file.Bytes, k.Least())
		if s.Status == Completed {
			without = "and " + k.File() + " may not be whole"
		}
	}
	switch {
	case seen.GaveUp:
		return fmt.Sprintf("%s has waited in vain for %s", role, list(f.lost(role)))
	case seen.Trouble != "":
		return fmt.Sprintf("%s could not be started: %s", role, seen.Trouble)
	case seen.Exited:
		said := strings.Join(strings.Fields(seen.Said), " ")
		return strings.TrimSuffix(fmt.Sprintf("%s ended with exit status %d, %s: %s", role, seen.Exit, without, said), ": ")
	}
	return fmt.Sprintf("%s was killed, %s", role, without)
}

// tooLong describes for what a worker had no time left.
func (f Facts) tooLong(role string) string {
	if lost := f.lost(role); f.Workers[role].Waiting && len(lost) > 0 {
		return fmt.Sprintf("%s has waited in vain for %s", role, list(lost))
	}
	return fmt.Sprintf("%s was not done by %s", role, f.end(role).UTC().Format("15:04:05"))
}

// tellOne reports one failed worker, unless its phase fails with it: then only that is reported.
func (f Facts) tellOne(a *Action) {
	_, a.Phase = f.Workflow.Worker(a.Roles[0])
	next := f
	next.Status = f.Status.After(*a, f.Now)
	if next.lostPhase() != a.Phase {
		a.Tell = fmt.Sprintf("Pipeline %s: %s. The others go on.", f.Status.Dir, a.Why)
	}
}

func (f Facts) tellPhase(a *Action) {
	a.Tell = fmt.Sprintf("Pipeline %s: phase %d (%s) has failed: %s. What now: ferrus pipeline retry, or cancel.", f.Status.Dir,
		a.Phase+1, f.Status.Phases[a.Phase].ID, a.Why)
}

// whatFailed describes why a phase has failed.
func (f Facts) whatFailed(phase int) string {
	var parts []string
	for _, s := range f.Status.Phases[phase].Workers {
		switch {
		case !f.bad(s):
		case s.Detail != "":
			parts = append(parts, s.Detail)
		case s.Status == Completed:
			parts = append(parts, f.how(s.Role))
		default:
			parts = append(parts, s.Role+" failed")
		}
	}
	return strings.Join(parts, "; ")
}

// tellStart reports once per phase, or with spawn all once per run.
func (f Facts) tellStart(a *Action) {
	p := f.current()
	if p.Status != Pending {
		return
	}
	if f.Workflow.All() {
		a.Tell = fmt.Sprintf("Pipeline running, %s active.", count(len(a.Roles), "worker"))
		return
	}
	a.Tell = fmt.Sprintf("Pipeline running, %s in phase %d.", count(len(p.Workers), "worker"), f.Status.CurrentPhase+1)
}

// summary is what a person reads at a pause: the size and the first line of each output.
func (f Facts) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Pipeline %s is paused after phase %d (%s). What there is:\n", f.Status.Dir, f.Status.CurrentPhase+1, f.current().ID)
	for _, s := range f.current().Workers {
		file := f.Files[s.Output]
		fmt.Fprintf(&b, "- %s: %s, %d bytes: %s\n", s.Role, s.Output, file.Bytes, file.First)
	}
	b.WriteString("ferrus pipeline resume goes on.")
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
