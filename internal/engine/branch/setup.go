package branch

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// SetUpTree returns the files on which the set-up of a branch runs that goes on with the work of e's task: those that the task began
// with. The set-up runs without a sandbox, and an executor that has one must not decide what that starts. It returns "" where no
// executor has worked in a sandbox.
func SetUpTree(e *engine.Engine, now store.Snapshot) string {
	if !confine.Of(e.Place().Dir()).Used() {
		return ""
	}
	return now.Task.SetUpOn()
}

// fill puts the files of a branch into its new work tree, and sets it up.
func fill(ctx context.Context, s *engine.Session, now store.Snapshot, tree *worktree.Tree, on project.Place, from start, draft string) error {
	conf, err := s.Engine().Config()
	if err != nil {
		return refusal.Config(err)
	}
	first, saved := from.tree, on.Branch+"/"+cmp.Or(from.task, "start")
	if from.setUp != "" {
		if err := used(draft); err != nil {
			return err
		}
		if strings.TrimSpace(conf.Branches.Setup) != "" {
			if err := tree.SaveRef(ctx, saved+"/base-setup", from.setUp); err != nil {
				return refusal.Git(err)
			}
			first = from.setUp
		}
	}
	there, err := worktree.Open(ctx, on.WorkTree(), filepath.Join(draft, "git"), worktree.Options{Root: s.Engine().Place().Root, Ignore: conf.Gate().Checks.Ignore})
	if err != nil {
		return refusal.Git(err)
	}
	move := func(to string) error {
		is, err := there.Snapshot(ctx)
		if err == nil && to == from.tree {
			to, err = withSetUp(ctx, there, first, is, to)
		}
		var moved restore.Change
		if err == nil {
			moved, err = restore.In(there).Restore(ctx, is, to, saved+"/edits")
		}
		if len(moved.Edited) > 0 {
			s.Engine().Log().Warn("files of a branch were edited while it was made", "branch", on.Branch, "edits", restore.Text(moved.Edited))
		}
		return err
	}
	if err = move(first); err == nil {
		err = os.MkdirAll(on.Work, 0o755) // the project may be a folder of the repository that no commit has
	}
	if err == nil {
		err = copyIgnored(ctx, s.Engine(), from.copies, there, first, from.tree)
	}
	if err != nil {
		return refusal.Git(err)
	}
	env, err := s.Engine().Environment(now)
	if err != nil {
		return err
	}
	if from.task == "" {
		env = s.Engine().Personal().Apply(os.Environ())
	}
	if err := setUp(ctx, s.Engine(), on, conf, draft, env); err != nil || first == from.tree {
		return err
	}
	if err := move(from.tree); err != nil {
		return refusal.Git(err)
	}
	return nil
}

// copies returns the ignored files of the project for new work trees, and logs which of them those will lack.
func copies(ctx context.Context, e *engine.Engine) (agreement.Copies, error) {
	c, err := e.Copies(ctx)
	for _, note := range c.Notes() {
		e.Log().Warn(note)
	}
	return c, err
}

// copyIgnored copies the ignored files of the project into a new work tree, which has the files of the trees, now or later.
func copyIgnored(ctx context.Context, e *engine.Engine, c agreement.Copies, there *worktree.Tree, trees ...string) error {
	left, err := c.Into(ctx, there, trees...)
	if len(left) > 0 {
		e.Log().Warn("not copied into the new work tree: " + format.OneLine(strings.Join(left, "; "), 400))
	}
	return err
}

// used notes in the folder of a machine that its files are those of an executor in a sandbox. Its checks have one, too, though no
// executor has worked in one there.
func used(machine string) error {
	return refusal.Folder(os.MkdirAll(string(confine.Of(machine)), 0o700))
}

// withSetUp returns the files to with what a set-up has made of the files first, which now are is. Where git cannot merge them, it is
// left out.
func withSetUp(ctx context.Context, there *worktree.Tree, first, is, to string) (string, error) {
	if first == to {
		return to, nil
	}
	both, err := there.Merge(ctx, first, is, to)
	if err == nil && len(both.Conflicts) == 0 {
		to = both.Tree
	}
	return to, err
}

// setUp runs the command that a new work tree needs, if there is one.
func setUp(ctx context.Context, e *engine.Engine, on project.Place, conf config.Config, draft string, env []string) error {
	if strings.TrimSpace(conf.Branches.Setup) == "" {
		return nil
	}
	log, lock := filepath.Join(draft, "logs", "setup.log"), filepath.Join(draft, "live", "setup.lock")
	if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o700), os.MkdirAll(filepath.Dir(lock), 0o700)); err != nil {
		return err
	}
	spec := checkrun.SpecOf(conf.Gate(), on.Work, log, lock)
	spec.Commands, spec.Environ = []string{conf.Branches.Setup}, env
	res, err := e.Runner().Run(ctx, spec)
	if err != nil {
		return err
	}
	if res.Status != checks.Passed {
		return &refusal.RefusedError{Code: refusal.StoreError, Message: "the new work tree cannot be set up: " + checkrun.Verdict(res), Person: true,
			Output: checks.Output(res.Failures()),
			Remedy: refusal.Say("see %s and [branches] setup in ferrus.toml, then try again", log)}
	}
	return nil
}
