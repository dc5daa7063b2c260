package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/document"
	"github.com/ferrus-go/ferrus/internal/gc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// The life of the private checkouts in which gates with [checks] where = "clean" run: one for each task of each machine of
// a project, below the state folder of the person, outside of every repository.

// checkout returns the checkout of a task. An engine has one object for each, which remembers what it has compared.
func (e *Engine) checkout(task string) (*checkout.Checkout, error) {
	dir, err := gc.CheckoutsDir(e.place.Root)
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, gc.CheckoutName(e.place.Branch, task))
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.checkouts[dir]
	if c == nil {
		c = checkout.New(dir)
		e.checkouts[dir] = c
	}
	return c, nil
}

// A stand is where the commands of a gate run. The zero value is the task's work tree.
type stand struct {
	clean *checkout.Checkout // nil for the work tree
	dir   string             // "" for the work tree
	env   []string           // of the commands
}

// release ends the use of a checkout.
func (s stand) release() {
	if s.clean != nil {
		s.clean.Release()
	}
}

// moved lists files of the tree that the gate's commands changed in the checkout. In a work tree that is the business of
// fingerprints.
func (s stand) moved() ([]string, error) {
	if s.clean == nil {
		return nil, nil
	}
	return s.clean.Changed()
}

// judged is what a run at the stand says of the tree: one in which files of the tree were changed says nothing.
func (s stand) judged(res checks.Result) checks.Result {
	if res.Status != checks.Passed {
		return res
	}
	moved, err := s.moved()
	switch {
	case err != nil:
		res.Status, res.Err = checks.GateError, err.Error()
	case len(moved) > 0:
		res.Status, res.Err = checks.GateError, "the checks changed files that they judge: "+document.Clip(strings.Join(moved, ", "), document.MaxLine)
	}
	return res
}

// standTrouble is why a gate has no place to run in.
func standTrouble(err error) error {
	if refused := (*refusal.RefusedError)(nil); errors.As(err, &refused) {
		return err
	}
	return &refusal.RefusedError{Code: refusal.StoreError, Message: "the checkout of the gate cannot be made: " + err.Error(), Person: true,
		Remedy: "fix what it names, then try again; ferrus gc removes leftover checkouts"}
}

// on puts a run at the stand.
func (s stand) on(spec checks.Spec) checks.Spec {
	if s.clean != nil {
		spec.Dir, spec.Environ = s.dir, s.env
	}
	return spec
}

// A judging says what a gate is to judge.
type judging struct {
	task string   // by which the checkout is named
	tree string   // "" for the work tree as it is
	base string   // on which the set-up runs: no executor has changed it; "" for tree
	env  []string // of the commands; nil for this process's own
}

// standFor makes the place in which a gate judges: for a clean one the checkout of the task, which the caller releases.
func (e *Engine) standFor(ctx context.Context, snap store.Snapshot, gate config.Gate, on judging) (stand, error) {
	if !gate.Checks.Clean() {
		return stand{}, nil
	}
	if on.env == nil {
		on.env = os.Environ()
	}
	t, err := worktree.Open(ctx, e.workDir(snap), e.store.Path("git"), worktree.Options{Root: e.place.Root, Ignore: gate.Checks.Ignore})
	if err != nil {
		return stand{}, err
	}
	if !t.Git() {
		return stand{}, noClean
	}
	if on.tree == "" {
		if on.tree, err = t.Fingerprint(ctx); err != nil {
			return stand{}, err
		}
	}
	c, err := e.checkout(on.task)
	if err != nil {
		return stand{}, err
	}
	// Git is to find no repository above it.
	env := append(slices.Clone(on.env), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.Files()))
	s := stand{clean: c, dir: filepath.Join(c.Files(), project.Within(e.place.Root)), env: env}
	l := checkout.Layout{Tree: on.tree, Within: project.Within(e.place.Root)}
	if line := strings.TrimSpace(gate.Setup); line != "" {
		l.Base = cmp.Or(on.base, on.tree)
		sum := sha256.Sum256([]byte(l.Base + "\x00" + line))
		l.Key = hex.EncodeToString(sum[:])
		l.SetUp = func(ctx context.Context, _ string) error { return e.setUpClean(ctx, gate, s, on.task) }
	}
	for over := time.Now().Add(gatePatience); ; {
		err := c.Lay(ctx, t, l)
		if !errors.Is(err, checkout.ErrInUse) || time.Now().After(over) {
			return s, err
		}
		select {
		case <-time.After(20 * time.Millisecond): // that of an earlier holder is being given up, or a merge is at work
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// judgeClean runs a task's gate on a tree in the task's checkout. log is relative to the .ferrus folder.
func (e *Engine) judgeClean(ctx context.Context, snap store.Snapshot, gate config.Gate, tree, log string) (checks.Result, error) {
	if err := e.awaitGate(ctx); err != nil {
		return checks.Result{}, err
	}
	spec, err := e.spec(snap, gate, log, checkLock)
	if err != nil {
		return checks.Result{}, err
	}
	at, err := e.standFor(ctx, snap, gate, judging{task: snap.Task.TaskID, tree: tree, base: snap.Task.BaseTree, env: spec.Environ})
	if err != nil {
		return checks.Result{}, standTrouble(err)
	}
	defer at.release()
	res, err := e.run(ctx, at.on(spec))
	return at.judged(res), err
}

// setUpClean runs the set-up in a checkout, before anything of an executor's is in it. The project is named to it: there it
// may copy what is in no commit.
func (e *Engine) setUpClean(ctx context.Context, gate config.Gate, s stand, task string) error {
	log, lock, err := e.output("logs/"+task+"-setup.log", "live/setup.lock")
	if err != nil {
		return err
	}
	spec := s.on(specOf(gate, "", log, lock))
	spec.Commands, spec.Environ = []string{gate.Setup}, append(slices.Clone(s.env), "FERRUS_PROJECT="+e.place.Root)
	res, err := e.run(ctx, spec)
	if err == nil && res.Status != checks.Passed {
		err = fmt.Errorf("[branches] setup in the checkout of the gate: %s; the log is %s", verdict(res), spec.Log)
	}
	return err
}

// noClean is why a project without git has no clean gate.
var noClean = &refusal.RefusedError{Code: refusal.InvalidInput, Message: `[checks] where = "clean" needs a git repository, and there is none here`, Person: true,
	Remedy: `run git init and commit once, or set where = "worktree" in ferrus.toml`}

// freezable refuses a gate that could not run here, before it is frozen.
func (e *Engine) freezable(ctx context.Context, gate config.Gate) error {
	if !gate.Checks.Clean() {
		return nil
	}
	if common, err := worktree.CommonDir(ctx, e.place.Root); err == nil && common == "" {
		return noClean
	}
	dir, err := gc.CheckoutsDir(e.place.Root)
	if err == nil {
		err = checkout.Outside(dir)
	}
	if err != nil {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: `[checks] where = "clean" has no folder outside of the repository: ` + err.Error(), Person: true,
			Remedy: `set FERRUS_STATE_DIR to one, or where = "worktree" in ferrus.toml`}
	}
	return nil
}

// dropCheckouts removes the checkouts of a machine; what cannot be removed now is found by ferrus gc.
func (e *Engine) dropCheckouts(on project.Place) {
	if err := gc.DropCheckouts(on, ""); err != nil {
		e.log.Warn("the checkout of a check is left", "error", err)
	}
}
