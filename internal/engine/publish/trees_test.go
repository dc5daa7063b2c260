package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// person is the configuration of one who has named a remote.
func person(trees string) func() (config.Person, error) {
	p := config.Person{Path: "/home/me/config.toml"}
	p.Store.Trees, p.Store.Namespace = trees, remote.Hidden
	return func() (config.Person, error) { return p, nil }
}

// newRepository makes a git repository with a commit.
func newRepository(t *testing.T) (dir string, tree *worktree.Tree) {
	t.Helper()
	worktreetest.Isolate(t)
	dir = t.TempDir()
	worktreetest.RunGit(t, dir, "init", "-q", "--template=")
	worktreetest.Write(t, dir, "code.txt", "one\n")
	worktreetest.RunGit(t, dir, "add", "code.txt")
	worktreetest.RunGit(t, dir, "commit", "-qm", "one")
	tree, err := worktree.Open(t.Context(), dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir, tree
}

// TestANameOfARefHasItsBranch, and says whether it is that of the files with which the task began.
func TestANameOfARefHasItsBranch(t *testing.T) {
	for full, want := range map[string][3]string{"t-1": {"", "t-1", "false"}, "alt@t-1": {"alt", "t-1", "false"}, "t-1+base": {"", "t-1", "true"}, "try.1@t-1+base": {"try.1", "t-1", "true"}} {
		branch, task, first := split(full)
		if got := [3]string{branch, task, fmt.Sprint(first)}; got != want {
			t.Errorf("%s: %q", full, got)
		}
		if again := name(branch, task) + map[bool]string{true: base}[first]; again != full {
			t.Errorf("%s is named %s", full, again)
		}
	}
}

// TestWhatTheTaskNeedsStaysOnTheRemote: its present epoch and later ones, what the journal names, the files with which it began, and what belongs to other
// machines and to newer tasks.
func TestWhatTheTaskNeedsStaysOnTheRemote(t *testing.T) {
	dir, tree := newRepository(t)
	r, err := remote.Open(t.Context(), tree.Repository, remote.Options{Remote: "/srv/a", Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int) string { return fmt.Sprintf("%040x", n) }
	task := state.Task{TaskID: "t-2", Epoch: 5, BaseCommit: id(9)}
	task.Check.Tree, task.Submission.Tree = id(1), id(2)
	of := &Trees{place: project.Place{Root: dir, Branch: "alt"}}
	for _, c := range []struct {
		at         remote.Ref
		keep, over bool // while the task is underway, and when it is over
	}{
		{remote.Ref{Task: "alt@t-2", Epoch: 5}, true, false},
		{remote.Ref{Task: "alt@t-2", Epoch: 6}, true, false},
		{remote.Ref{Task: "alt@t-2", Epoch: 4, Commit: id(1)}, false, false},
		{remote.Ref{Task: "alt@t-2", Epoch: 4, Commit: r.CommitOf(id(1), id(9))}, true, false},
		{remote.Ref{Task: "alt@t-2", Epoch: 3, Commit: r.CommitOf(id(2), id(9))}, true, false},
		{remote.Ref{Task: "alt@t-2", Epoch: 4, Commit: r.CommitOf(id(1), "")}, false, false},
		{remote.Ref{Task: "alt@t-2+base"}, true, false},
		{remote.Ref{Task: "alt@t-1", Epoch: 9}, false, false},
		{remote.Ref{Task: "alt@t-1+base"}, false, false},
		{remote.Ref{Task: "alt@t-3"}, true, true},
		{remote.Ref{Task: "t-1", Epoch: 1}, true, true},
		{remote.Ref{Task: "other@t-1", Epoch: 1}, true, true},
	} {
		if got := of.keep(r, task, false)(c.at); got != c.keep {
			t.Errorf("%+v stays: %v", c.at, got)
		}
		if got := of.keep(r, task, true)(c.at); got != c.over {
			t.Errorf("%+v stays when the task is over: %v", c.at, got)
		}
	}
	none := task
	none.Check.Tree, none.Submission.Tree = "", ""
	if of.keep(r, none, false)(remote.Ref{Task: "alt@t-2", Epoch: 4, Commit: r.CommitOf("", id(9))}) {
		t.Error("a commit of nothing stays")
	}
}

// TestOnlyWhatClaimsToBeLaterThanTheJournalIsDeleted, and nothing where the journal cannot be read or has another task. It is read when it is asked first.
func TestOnlyWhatClaimsToBeLaterThanTheJournalIsDeleted(t *testing.T) {
	root := t.TempDir()
	if _, err := project.Init(root); err != nil {
		t.Fatal(err)
	}
	m, err := project.At(root, "").OpenFiles(project.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	of := &Trees{store: m}
	keep, early := of.known("t-2", "t-2"), of.known("t-2", "t-2")
	if at := (remote.Ref{Task: "t-2", Epoch: 99}); !early(at) {
		t.Error("the journal has no task, and a ref of it is deleted")
	}
	_, err = m.Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
		next := now.Task.Clone()
		next.TaskID, next.Epoch = "t-2", 5
		return &store.Change{Event: "repair", Next: next}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   remote.Ref
		want bool
	}{
		{remote.Ref{Task: "t-2", Epoch: 4}, true},
		{remote.Ref{Task: "t-2", Epoch: 5}, true},
		{remote.Ref{Task: "t-2", Epoch: 6}, false},
		{remote.Ref{Task: "t-1", Epoch: 6}, true},
		{remote.Ref{Task: "t-2+base", Epoch: 6}, true},
	} {
		if got := keep(c.at); got != c.want {
			t.Errorf("%+v stays: %v", c.at, got)
		}
	}
	if at := (remote.Ref{Task: "t-2", Epoch: 99}); !of.known("t-2", "t-9")(at) {
		t.Error("the journal has another task, and a ref of it is deleted")
	}
}

// TestARefusalOfTheRemoteSaysWhatHelps, and who can do it.
func TestARefusalOfTheRemoteSaysWhatHelps(t *testing.T) {
	of := &Trees{person: person("origin")}
	own := &refusal.RefusedError{Code: refusal.NotClaimed, Message: "own"}
	for name, c := range map[string]struct {
		err    error
		code   refusal.Code
		remedy string
		person bool
	}{
		"nothing":         {nil, "", "", false},
		"a refusal":       {own, refusal.NotClaimed, "", false},
		"a later epoch":   {fmt.Errorf("push: %w", &remote.LaterError{Ref: "r", Later: 7}), refusal.LeaseLost, "call status", false},
		"it refuses":      {fmt.Errorf("push: %w", &remote.RefusedError{Ref: "r"}), refusal.StoreError, `write namespace = "refs/heads/ferrus" under [store] in /home/me/config.toml`, true},
		"no access":       {fmt.Errorf("push: %w", remote.ErrAccess), refusal.StoreError, "again", true},
		"it is not there": {fmt.Errorf("push: %w", remote.ErrUnreachable), refusal.StoreError, "again", false},
	} {
		err := of.refused("what", "again", c.err)
		if c.err == nil || errors.Is(c.err, own) {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var r *refusal.RefusedError
		if !errors.As(err, &r) || r.Code != c.code || !strings.Contains(r.Remedy.String(), c.remedy) || r.Person != c.person || !strings.HasPrefix(r.Message, "what: push: ") {
			t.Errorf("%s: %+v", name, err)
		}
	}
	of.person = func() (config.Person, error) { return config.Person{}, errors.New("damaged") }
	var r *refusal.RefusedError
	if err := of.refused("what", "again", &remote.RefusedError{Ref: "r"}); !errors.As(err, &r) || r.Remedy != "again" || r.Person {
		t.Errorf("the configuration is damaged: %+v", err)
	}
}

// TestWhereWorkTreesDoNotTravelNothingIsDone, and a caller that asks for them is told what to write.
func TestWhereWorkTreesDoNotTravelNothingIsDone(t *testing.T) {
	dir, tree := newRepository(t)
	task := state.Task{TaskID: "t-1", BaseTree: strings.Repeat("1", 40)}
	damaged := func() (config.Person, error) { return config.Person{}, errors.New("damaged") }
	for name, c := range map[string]struct {
		person func() (config.Person, error)
		shared bool
		remedy string // of the refusal to open a remote
		fails  bool
	}{
		"in files":              {person("origin"), false, "ferrus store move URL", false},
		"no remote is named":    {person(""), true, `write trees = "origin" under [store] in /home/me/config.toml`, false},
		"it cannot be read":     {damaged, true, "", true},
		"in files, and damaged": {damaged, false, "", false},
	} {
		var log bytes.Buffer
		of := &Trees{place: project.Place{Root: dir}, person: c.person, shared: c.shared, log: slog.New(slog.NewTextHandler(&log, nil)), last: map[string]string{}, swept: map[string]bool{}}
		on, err := of.On()
		if on || (err != nil) != c.fails || of.Shared() != c.shared {
			t.Errorf("%s: %v, %v", name, on, err)
		}
		commit, why, began := of.Begin(t.Context(), tree, task, true)
		pushed, pushErr := of.Push(t.Context(), tree, task, strings.Repeat("2", 40))
		over, overErr := of.HandOver(t.Context(), tree, task, strings.Repeat("2", 40))
		tried := of.Try(t.Context(), tree, task, strings.Repeat("2", 40))
		of.End(t.Context(), tree, task)
		of.Drop(t.Context(), tree, "alt")
		if commit+why+pushed+over != "" || (began != nil) != c.fails || (pushErr != nil) != c.fails || (overErr != nil) != c.fails || (tried != "") != c.fails || (log.Len() > 0) != c.fails {
			t.Errorf("%s: %q %q %v, %q %v, %q %v, %q, %s", name, commit, why, began, pushed, pushErr, over, overErr, tried, &log)
		}
		if _, err := of.Open(t.Context(), tree.Repository, 0); refusal.CodeOf(err) == "" || !strings.Contains(err.Error(), c.remedy) {
			t.Errorf("%s: it is opened: %v", name, err)
		}
		if _, err := of.Probe(t.Context(), tree); err == nil {
			t.Errorf("%s: it is probed", name)
		}
		if _, err := of.Fetch(t.Context(), tree.Repository, task, ""); err == nil {
			t.Errorf("%s: it is fetched", name)
		}
	}
	plain, err := worktree.Open(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	of := &Trees{place: project.Place{Root: dir}, person: person("origin"), shared: true, log: slog.New(slog.DiscardHandler)}
	if _, err := of.Open(t.Context(), tree.Repository, 0); refusal.CodeOf(err) != refusal.WrongState || !strings.Contains(err.Error(), "in files of this computer") {
		t.Errorf("the project was moved into files meanwhile: %v", err)
	}
	for name, c := range map[string]struct {
		tree *worktree.Tree
		task state.Task
		id   string
	}{"no tree": {tree, task, ""}, "of an older ferrus": {tree, state.Task{TaskID: "t-1"}, strings.Repeat("2", 40)}, "without git": {plain, task, strings.Repeat("2", 40)}} {
		if commit, err := of.Push(t.Context(), c.tree, c.task, c.id); commit != "" || err != nil {
			t.Errorf("%s: pushed %q, %v", name, commit, err)
		}
	}
	if commit, why, err := of.Begin(t.Context(), plain, task, true); commit+why != "" || err != nil {
		t.Errorf("without git: %q, %q, %v", commit, why, err)
	}
	if commit, why, err := of.Begin(t.Context(), tree, task, false); len(commit) != 40 || why != "" || err != nil {
		t.Errorf("nothing is published yet: %q, %q, %v", commit, why, err)
	}
	if commit, why, err := of.Begin(t.Context(), tree, task, true); len(commit) != 40 || !strings.Contains(why, "in files of this computer") || err != nil {
		t.Errorf("it cannot be published: %q, %q, %v", commit, why, err)
	}
	if why := of.Try(over, tree, task, strings.Repeat("2", 40)); why != "" {
		t.Errorf("interrupted: %s", why)
	}
	if of.warn(task, nil) != "" || of.warn(task, errors.New("not\n\x1b[31mhere")) != "not <U+001B>[31mhere" {
		t.Errorf("a task has %q", of.warn(task, errors.New("not\n\x1b[31mhere")))
	}
}
