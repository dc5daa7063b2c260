package schedule

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A viewed is the task of a branch as it was read when the machine had a sign, "" for a machine in files.
type viewed struct {
	sign string
	task state.Task
}

// facts gathers what a plan needs to know. Branches are read only if something may follow.
func (f *fleet) facts(ctx context.Context, changes *project.Changes) (facts, error) {
	now := facts{parallel: f.Parallel, queue: len(f.Only) == 0, merging: f.merging != ""}
	if f.Until.Passed(f.Now()) {
		now.parallel, now.queue = 0, false
	}
	names, err := project.Branches(f.e.Place().Root)
	if err == nil && !f.Node {
		err = f.project(&now)
	}
	if err != nil {
		return facts{}, err
	}
	working := len(f.busy)
	if f.merging != "" {
		working--
	}
	reads := working < f.Parallel || now.merges || now.own.Returning.From != ""
	var signs map[string]string
	elsewhere := map[string]bool{}
	if reads {
		if changes != nil {
			if signs, err = changes.Signs(ctx); err != nil {
				return facts{}, err
			}
		}
		if elsewhere, err = conductor.Elsewhere(f.e); err != nil {
			f.trouble("", err) // the post decides
		}
	}
	tasks, unread := map[string]state.Task{}, map[string]error{}
	all := slices.Concat(names, slices.Collect(maps.Keys(f.busy)))
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		b := fact{name: name, works: f.busy[name] && name != f.merging, conducted: f.busy[name], refused: f.refused[name]}
		if reads {
			mine := !b.conducted && !elsewhere[name] && (len(f.Only) == 0 || slices.Contains(f.Only, name))
			if b.task, err = f.task(name, signs[name]); err != nil && mine {
				f.trouble(name, err)
			}
			if tasks[name], unread[name] = b.task, err; err != nil && !b.conducted {
				continue
			}
			b.starts = mine && f.continues(name, b.task)
		}
		now.branches = append(now.branches, b)
	}
	if now.queue = now.queue && working < f.Parallel; now.queue {
		list, err := Queued(f.e.Place().Dir())
		if err != nil {
			f.trouble("", err) // the good ones are taken all the same
		}
		if now.tasks, err = branch.LookAt(f.e, list, func(name string) (state.Task, error) { return tasks[name], unread[name] }); err != nil {
			return facts{}, err
		}
		now.waiting = f.untried(list, now.tasks)
	}
	return now, nil
}

// project gathers the facts about merges.
func (f *fleet) project(now *facts) error {
	if err := now.readMerges(f.e); err != nil || now.merging {
		return err
	}
	own, err := f.e.View()
	now.own = own.Task
	return err
}

// readMerges gathers what decides whether anything is merged at all.
func (f *facts) readMerges(e *engine.Engine) error {
	conf, err := e.Config()
	if err != nil {
		return err
	}
	if f.merging = f.merging || branch.Merging(e); f.merging {
		return nil
	}
	// Unfinished work must not decide, by a line in ferrus.toml, that it is merged.
	f.merges = conf.Branches.OnApprove == config.Merge && e.Trusted() == nil
	return nil
}

// task returns the task of a branch. One whose sign is the one that it had is not read again.
func (f *fleet) task(name, sign string) (state.Task, error) {
	was, known := f.viewed[name]
	if !known || sign == "" || was.sign != sign {
		now, err := f.view(name)
		if err != nil {
			return state.Task{}, err
		}
		was = viewed{sign, now.Task}
		f.viewed[name] = was
	}
	return was.task, nil
}

// continues reports whether the task of a branch could continue and has no conductor.
func (f *fleet) continues(name string, t state.Task) bool {
	if was, ok := f.left[name]; ok && was.seq == t.Seq && (was.until.IsZero() || time.Now().Before(was.until)) || !t.Underway() || t.IsDelegate() || t.State == state.AwaitingHuman {
		return false
	}
	_, busy := conductor.Conductor(project.At(f.e.Place().Root, name).Dir())
	return !busy
}

// view reads the state of a branch.
func (f *fleet) view(name string) (store.Snapshot, error) {
	e, err := branch.Open(f.e, name)
	if err != nil {
		return store.Snapshot{}, err
	}
	defer e.Close()
	return e.View()
}
