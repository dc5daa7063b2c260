package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project/queue"
)

// take makes branches of the first tasks of the queue, as many as there are free places. One that
// cannot be taken is left for later steps.
func (s *step) take(ctx context.Context, list []queue.Item, free int) {
	for _, it := range list {
		if free == 0 || ctx.Err() != nil {
			return
		}
		d := Decision{Kind: Queue, Name: it.Name, Do: take}
		task, err := Take(ctx, s.s, it)
		if err == nil && task == nil {
			continue // another computer takes it
		}
		if err == nil {
			d.State, d.Why = task.State, task.Title
		}
		if s.tell(d, err); err == nil {
			free--
		}
	}
}

func (s *step) tell(d Decision, err error) {
	d.fail(err)
	s.taken = append(s.taken, d)
}

// merge merges a branch. A merge that does not fit is not tried again before the branch or the
// project has changed.
func (s *step) merge(ctx context.Context, d *Decision) {
	from, err := branch.Open(s.e, d.Name)
	if err != nil {
		d.fail(err)
		return
	}
	defer from.Close()
	got, err := branch.Merge(ctx, s.s, from.Session(s.Caller), func() error { return conductor.EndAll(ctx, s.e) })
	if err == nil {
		d.Why = got.Notice()
		if got.Empty {
			d.Why = "empty: its work changed no file"
		}
		return
	}
	if ctx.Err() != nil {
		d.fail(err)
		return
	}
	d.Why = "not merged: " + err.Error()
	now, wrong := from.View()
	own, bad := s.e.View()
	if wrong == nil && bad == nil {
		all := s.readRefused()
		all[d.Name] = refused{Branch: now.Task.Seq, Project: own.Task.Seq, Why: err.Error()}
		s.writeRefused(all)
	}
}

// refusedFile has the merges that were refused. Without it they are tried again.
const refusedFile = "refused.json"

// maxRefused bounds that file, in bytes.
const maxRefused = 1 << 20

func (s *step) refusedPath() string { return filepath.Join(Dir(s.e.Place().Root), refusedFile) }

func (s *step) readRefused() map[string]refused {
	all := map[string]refused{}
	root, name, err := rootfs.For(s.refusedPath())
	if err != nil {
		return all
	}
	defer root.Close()
	if text, err := root.ReadFile(name, maxRefused); err == nil && json.Unmarshal(text, &all) != nil {
		return map[string]refused{}
	}
	return all
}

func (s *step) writeRefused(all map[string]refused) {
	root, name, err := rootfs.For(s.refusedPath())
	if err == nil {
		defer root.Close()
		text, _ := json.Marshal(all)
		err = root.WriteFile(name, text, 0o600)
	}
	if err != nil {
		s.e.Log().Warn("a refused merge is not recorded and will be tried again", "error", err)
	}
}

// kinds are the kinds of decisions in the order in which they are shown.
var kinds = []Kind{Task, Branch, Merge, Queue, Pipeline}

func sorted(list []Decision) []Decision {
	slices.SortStableFunc(list, func(a, b Decision) int {
		if a.Kind == Queue && b.Kind == Queue {
			return 0 // they were taken in that order
		}
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	return list
}
