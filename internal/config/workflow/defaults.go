package workflow

import (
	"cmp"
	"slices"
)

// All reports whether all workers start at once.
func (w Workflow) All() bool { return w.Spawn == SpawnAll }

// Cap returns how many agents may run at a time.
func (w Workflow) Cap() int { return cmp.Or(w.MaxParallel, 4) }

// Watched reports whether an incomplete result is delivered when no worker is left.
func (w Workflow) Watched() bool { return orElse(w.Watchdog, w.All()) }

// Notifies reports whether a person is notified.
func (w Workflow) Notifies() bool { return orElse(w.Notify, true) }

// Marker returns the text by which the last words of a final worker say that it has sent the result
// by itself.
func (w Workflow) Marker() string { return cmp.Or(w.SentMarker, "MATRIX_SENT") }

// ByTerminal reports whether the final worker sends the result by itself.
func (w Workflow) ByTerminal() bool {
	if w.DeliverBy == "" {
		return w.All()
	}
	return w.DeliverBy == byTerminal
}

// How returns the mode of the phase.
func (p Phase) How() Mode { return cmp.Or(p.Mode, Parallel) }

// Rounds returns the number of rounds of a dialogue; a negative number means until there is
// consensus.
func (p Phase) Rounds() int { return cmp.Or(p.MaxRounds, 5) }

// Transcript returns the name of the file that a dialogue produces.
func (p Phase) Transcript() string { return p.ID + ".md" }

// File returns the name of the worker's output. For a dialogue use Transcript.
func (k Worker) File() string { return cmp.Or(k.Output, k.Role+".md") }

// Ends reports whether a command that ends with this exit code has done its work.
func (k Worker) Ends(code int) bool { return code == 0 || slices.Contains(k.OKExit, code) }

// Least returns the least size of its output in bytes.
func (k Worker) Least() int64 { return max(k.MinBytes, 1) }

// Final returns the worker whose output is the result, and the name of the file.
func (w Workflow) Final() (role, file string) {
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			if k.Final {
				return k.Role, p.Output(k)
			}
		}
	}
	return "", ""
}

// Output returns the name of the file that a worker of the phase produces.
func (p Phase) Output(k Worker) string {
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

// Waits returns the files that a worker waits for before it starts: its inputs and, with spawn all
// in a sequential phase, the output of the worker before it.
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

// Writers returns the roles that write a file: one, or all of a dialogue.
func (w Workflow) Writers(file string) []string {
	var roles []string
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			if p.Output(k) == file {
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
