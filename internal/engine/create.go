package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// CreateTask gives the executor something to do. The gate of ferrus.toml is pinned to the task, and the work tree as
// it is becomes the base of all its diffs. An empty title is taken from the description's first line.
func (s *Session) CreateTask(ctx context.Context, description, title string) (Done, error) {
	return s.create(ctx, description, title, "")
}

// CreateQueued is CreateTask for a task of the queue. issue is the URL of the issue that it was made of, "" for none; see [state.Task].
func (s *Session) CreateQueued(ctx context.Context, description, issue string) (Done, error) {
	return s.create(ctx, description, "", issue)
}

func (s *Session) create(ctx context.Context, description, title, issue string) (Done, error) {
	if err := handover.CheckText("description", description, store.MaxDoc); err != nil {
		return Done{}, err
	}
	if title == "" {
		title = handover.TitleOf(description)
	} else if err := handover.CheckLine("title", title); err != nil {
		return Done{}, err
	}
	title = safetext.Line(title)
	conf, err := s.e.Config()
	if err != nil {
		return Done{}, refusal.Config(err)
	}
	now, err := s.e.View()
	if err != nil {
		return Done{}, err
	}
	if err := s.e.trusted(conf); err != nil {
		return Done{}, err
	}
	// Refuse before git is asked; the table is asked again under the lock.
	if _, err := state.Step(now.Task, state.CreateTask, s.Role, state.Limits{}); err != nil && !s.mayRepeat(now) {
		return Done{}, refusal.From(err)
	}
	if err := s.e.runner.CanRun(ctx, conf.Gate()); err != nil {
		return Done{}, err
	}
	if err := s.e.freezeRules(ctx); err != nil {
		return Done{}, err
	}
	docs := s.e.settings.Freeze(conf.Gate())
	docs[state.TaskDoc] = description
	as := state.Task{Title: title, Issue: issue}
	if now.Task.TaskID == "" { // a branch may have begun with what an executor in a sandbox has made
		as.SetUpTree = now.Task.SetUpTree
	}
	done, err := s.begin(ctx, now, as, docs)
	if err == nil {
		s.e.RecordEnviron() // there may have been no record before the agreement to this task
	}
	return done, err
}

// mayRepeat reports whether the newest event is this session's own.
func (s *Session) mayRepeat(now store.Snapshot) bool {
	return now.Top != nil && now.Top.Actor.Session == s.ID
}

// begin commits a new task, with the title, the issue and the tree of the set-up of as. The work tree as it is becomes its base, durable, and published where
// trees travel.
func (s *Session) begin(ctx context.Context, now store.Snapshot, as state.Task, docs map[state.Doc]string) (Done, error) {
	t := transition{event: state.CreateTask, docs: docs, note: as.Title}
	tree, err := s.e.Tree(ctx, store.Snapshot{})
	if err != nil {
		return Done{}, err
	}
	made := state.Task{TaskID: s.e.newTaskID(), Epoch: now.Task.Epoch}
	if made.BaseTree, err = tree.Snapshot(ctx); err != nil {
		return Done{}, refusal.Git(err)
	}
	var why string
	if made.BaseCommit, why, err = s.e.published.Begin(ctx, tree, made, !s.repeats(now, t.request())); err != nil {
		return Done{}, err
	}
	made.Head, made.HeadBranch = tree.HeadNow(ctx)
	t.apply = func(_ store.Snapshot, next *state.Task) {
		next.TaskID, next.Title, next.BaseTree, next.BaseCommit, next.Worktree = made.TaskID, as.Title, made.BaseTree, made.BaseCommit, s.e.place.Work
		next.SetUpTree, next.Issue, next.Head, next.HeadBranch, next.Unpublished = as.SetUpTree, as.Issue, made.Head, made.HeadBranch, why
	}
	return s.commit(ctx, t)
}

// freezeRules freezes the filters and excludes of the repository, where a person's command makes the task: one that an
// agent makes has those of the newest command of a person, for another agent may have written to the repository since.
func (e *Engine) freezeRules(ctx context.Context) error {
	if e.opts.Environ == nil && e.opts.Project != nil {
		return nil
	}
	tree, err := e.Tree(ctx, store.Snapshot{})
	if err == nil {
		if wrong := tree.Freeze(ctx); wrong != nil {
			err = refusal.Git(wrong)
		}
	}
	return err
}

// newTaskID is t-YYYYMMDD-HHMMSS-xxxxxxxx: legible, sortable, and another one for each of the tasks that are created in a second.
// With 16 random bits, ten tasks a second had the id of another one once in some thousand seconds.
func (e *Engine) newTaskID() string {
	var tail [4]byte
	rand.Read(tail[:]) // never fails
	return "t-" + e.stamp().Format("20060102-150405") + "-" + hex.EncodeToString(tail[:])
}

// AcceptConfig freezes the gate of ferrus.toml as it is now with the task, and the environment of the person's command. It
// returns what differs from the gate so far; nothing is changed when neither differs.
func (s *Session) AcceptConfig(ctx context.Context) ([]config.Change, Done, error) {
	conf, err := s.e.Config()
	if err != nil {
		return nil, Done{}, refusal.Config(err)
	}
	if err := s.e.Known(); err != nil {
		return nil, Done{}, err
	}
	if err := s.e.runner.CanRun(ctx, conf.Gate()); err != nil {
		return nil, Done{}, err
	}
	now, err := s.e.View()
	if err != nil {
		return nil, Done{}, err
	}
	pinned, err := s.e.Gate(now)
	if err != nil && refusal.CodeOf(err) != refusal.Corrupt {
		return nil, Done{}, err
	}
	gate := GateFor(now.Task, conf)
	diff, docs := pinned.Diff(gate), s.e.settings.Freeze(gate)
	diff = append(diff, s.e.settings.EnvironChange(now, docs[store.EnvironDoc])...)
	if len(diff) == 0 && now.Task.TaskID != "" && now.Task.Assigned == (state.Assigned{}) {
		s.e.accepted(conf)
		return nil, Done{Snapshot: now}, nil
	}
	done, err := s.commit(ctx, transition{event: state.AcceptConfig, docs: docs, note: changes(diff)})
	if err == nil {
		s.e.accepted(conf)
	}
	return diff, done, err
}

func changes(diff []config.Change) string {
	text := ""
	for _, c := range diff {
		text += c.String() + "; "
	}
	return format.OneLine(text, 400)
}
