package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// maxKept is the greatest size of an output of which a copy is saved.
const maxKept = 16 << 20

// guard detects outputs that were changed by another worker. While others run, the output of a
// worker that has ended or not started cannot change legitimately: guard restores it and reports
// that. When no worker runs, a person may edit outputs, and the edit counts. It reports whether it
// has changed anything.
func (b *runState) guard(facts *pipeline.Facts) (bool, error) {
	for i, p := range facts.Status.Phases {
		for j, k := range p.Workers {
			file, there := facts.Files[k.Output]
			early := there && b.early(*facts, i, k)
			changed := there && k.Status == pipeline.Completed && k.SHA256 != file.SHA256
			if !early && !changed {
				continue
			}
			others := b.f.others(p.Workers, k)
			switch {
			case changed && facts.Workers[k.Role].Alive && !file.Settled: // it is being written
			case changed && len(others) > 0 && !b.f.own(k):
				return true, b.restore(*facts, k, others)
			case changed:
				return true, b.accept(*facts, i, j, file)
			case early && len(others) > 0:
				return true, b.remove(*facts, k, others)
			}
		}
	}
	return false, nil
}

// early reports whether a worker cannot have written anything yet: it was never started, and its
// turn has not come.
func (b *runState) early(facts pipeline.Facts, phase int, k pipeline.WorkerStatus) bool {
	seen := facts.Workers[k.Role]
	return k.Status == pipeline.Pending && k.Attempt == 0 && seen.Attempt == 0 && !seen.Alive && !facts.Workflow.All() &&
		phase >= facts.Status.CurrentPhase
}

// others returns the workers that must not write this output, and ran when it was last changed, or
// run now.
func (f *Folder) others(phase pipeline.Roster, k pipeline.WorkerStatus) []string {
	var roles []string
	at := f.changed(k.Output)
	for _, p := range f.Workflow.Phases {
		for _, other := range p.Workers {
			if slices.ContainsFunc(phase, func(s pipeline.WorkerStatus) bool { return s.Role == other.Role && s.Output == k.Output }) {
				continue
			}
			if _, taken := f.Slot(other.Role).Taken(); taken || f.worked(other.Role, at) {
				roles = append(roles, other.Role)
			}
		}
	}
	return roles
}

// changed returns when an output was changed, as of the last pass, in milliseconds: records of runs
// are no more precise.
func (f *Folder) changed(output string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sums[output].mod.Truncate(time.Millisecond)
}

// worked reports whether a worker that has ended was running at a time.
func (f *Folder) worked(role string, at time.Time) bool {
	list, err := f.Runs(role)
	return err == nil && slices.ContainsFunc(list, func(r process.Run) bool { return r.Over() && !at.Before(r.Started) && !at.After(r.Ended) })
}

// own reports whether the worker itself may have written its output last: it is alive, or ended
// later.
func (f *Folder) own(k pipeline.WorkerStatus) bool {
	if _, taken := f.Slot(k.Role).Taken(); taken {
		return true
	}
	list, err := f.Runs(k.Role)
	if err != nil || len(list) == 0 {
		return false
	}
	return !f.changed(k.Output).After(list[len(list)-1].Ended)
}

// keep saves copies of outputs that have begun to count.
func (b *runState) keep(was, now pipeline.Status) error {
	for i, p := range now.Phases {
		for j, k := range p.Workers {
			if k.Status != pipeline.Completed || k.SHA256 == was.Phases[i].Workers[j].SHA256 || k.Bytes > maxKept {
				continue
			}
			text, err := b.f.slurp(k.Output)
			if err != nil {
				return err
			}
			if digest(text) == k.SHA256 { // otherwise it has changed since, and the next pass notices that
				if err := b.f.replace(keptDir+"/"+k.Output, text, 0o400); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// restore restores an output from the copy that was saved when it began to count.
func (b *runState) restore(facts pipeline.Facts, k pipeline.WorkerStatus, others []string) error {
	kept, err := b.f.slurp(keptDir, k.Output)
	if err != nil {
		return err
	}
	who := strings.Join(others, " or ")
	aside, err := b.aside(k.Output, k.Role, k.Attempt)
	if err != nil {
		return err
	}
	if digest(kept) != k.SHA256 { // it was too large
		return b.tell(facts.Now, pipeline.Violation, fmt.Sprintf("%s of %s was changed while %s was running, and there is no copy of it: it is moved to %s",
			k.Output, k.Role, who, aside))
	}
	if err := b.f.replace(k.Output, kept, 0o600); err != nil {
		return err
	}
	return b.tell(facts.Now, pipeline.Violation, fmt.Sprintf("%s of %s was changed while %s was running, and restored; the changed file is in %s", k.Output, k.Role, who, aside))
}

// accept accepts an output as it is now.
func (b *runState) accept(facts pipeline.Facts, i, j int, file pipeline.File) error {
	next := b.status.Clone()
	k := &next.Phases[i].Workers[j]
	k.SHA256, k.Bytes = file.SHA256, file.Bytes
	next.Rev++
	if err := b.keep(b.status, next); err != nil {
		return err
	}
	return b.commit(Line{At: facts.Now, Event: "edited", Roles: []string{k.Role}, Status: next,
		Why: k.Output + " has changed, by its worker or while no worker was running, and counts as it is now"})
}

// remove moves away a file that was written in place of another worker's output.
func (b *runState) remove(facts pipeline.Facts, k pipeline.WorkerStatus, others []string) error {
	aside, err := b.aside(k.Output, k.Role, 0)
	if err != nil {
		return err
	}
	return b.tell(facts.Now, pipeline.Violation, fmt.Sprintf("%s of %s, which has not started, was written while %s was running; it is moved to %s",
		k.Output, k.Role, strings.Join(others, " or "), aside))
}

// aside moves a file to the files that no longer count, and returns its path in the folder of the
// run, "" if the file does not exist.
func (b *runState) aside(file, role string, attempt int) (string, error) {
	dir := fmt.Sprintf("%s/%s.%d", attemptsDir, role, attempt)
	root, run, err := b.f.in()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Join(run, dir), 0o700); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		to := dir + "/" + file
		if n > 1 {
			to = fmt.Sprintf("%s/%d-%s", dir, n, file)
		}
		if _, err := root.Lstat(path.Join(run, to)); err == nil {
			continue
		}
		err := root.Rename(path.Join(run, file), path.Join(run, to))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return to, err
	}
}
