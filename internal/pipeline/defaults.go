package pipeline

import (
	"cmp"
	"slices"
)

// All reports whether every worker is started at once.
func (w Workflow) All() bool { return w.Spawn == SpawnAll }

// Cap is how many agents may run at a time.
func (w Workflow) Cap() int { return cmp.Or(w.MaxParallel, 4) }

// Watched reports whether what there is shall be delivered when nobody is left.
func (w Workflow) Watched() bool { return orElse(w.Watchdog, w.All()) }

// Notifies reports whether a person is told.
func (w Workflow) Notifies() bool { return orElse(w.Notify, true) }

// Marker is what the last words of a final worker contain that has sent the result by itself.
func (w Workflow) Marker() string { return cmp.Or(w.SentMarker, "MATRIX_SENT") }

// ByTerminal reports whether the final worker sends the result by itself.
func (w Workflow) ByTerminal() bool {
	if w.DeliverBy == "" {
		return w.All()
	}
	return w.DeliverBy == byTerminal
}

// How is the mode of the phase.
func (p Phase) How() Mode { return cmp.Or(p.Mode, Parallel) }

// Rounds is how many rounds a dialogue has; below 0: until there is consensus.
func (p Phase) Rounds() int { return cmp.Or(p.MaxRounds, 5) }

// Transcript is the file that a dialogue leaves.
func (p Phase) Transcript() string { return p.ID + ".md" }

// File is what the worker writes; in a dialogue that is the transcript, which see.
func (k Worker) File() string { return cmp.Or(k.Output, k.Role+".md") }

// Least is how many bytes its output has at least.
func (k Worker) Least() int64 { return max(k.MinBytes, 1) }

// Final returns the worker whose output is the result, and the file.
func (w Workflow) Final() (role, file string) {
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			if k.Final {
				return k.Role, p.file(k)
			}
		}
	}
	return "", ""
}

// file is what a worker of the phase leaves.
func (p Phase) file(k Worker) string {
	if p.How() == Talking {
		return p.Transcript()
	}
	return k.File()
}

// Worker returns the worker of a role and the index of its phase, -1 when there is none.
func (w Workflow) Worker(role string) (Worker, int) {
	for i, p := range w.Phases {
		for _, k := range p.Workers {
			if k.Role == role {
				return k, i
			}
		}
	}
	return Worker{}, -1
}

// Waits are the files that a worker waits for before it starts: what it reads and, where all are started at once and
// the phase is sequential, what the one before it writes.
func (w Workflow) Waits(role string) []string {
	k, i := w.Worker(role)
	if i < 0 {
		return nil
	}
	files := slices.Clone(k.Reads)
	p := w.Phases[i]
	at := slices.IndexFunc(p.Workers, func(o Worker) bool { return o.Role == role })
	if w.All() && p.How() == Sequential && at > 0 && !slices.Contains(files, p.Workers[at-1].File()) {
		files = append(files, p.Workers[at-1].File())
	}
	return files
}

// writers returns the roles that write a file: one, or all of a dialogue.
func (w Workflow) writers(file string) []string {
	var roles []string
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			if p.file(k) == file {
				roles = append(roles, k.Role)
			}
		}
	}
	return roles
}

func orElse(set *bool, usual bool) bool {
	if set == nil {
		return usual
	}
	return *set
}
