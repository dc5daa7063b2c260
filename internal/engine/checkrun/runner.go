// Package checkrun runs the checks of a task: in its work tree, or on a tree of files in a private checkout. What the result
// means for the task is the engine's matter.
//
// A check belongs to a task, an epoch and a check id, not to the call that started it. A call that gives up leaves it running, and
// the next call joins it. If the task or the epoch changes meanwhile, the server ends the helper. After a pass in the work tree the
// fingerprint is taken again; another tree means that the result is void. The engine records a result only while this check is the
// newest one of its task and epoch and still counts as running.
package checkrun

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// A Runner runs the checks of a task: in its work tree, or on a tree of files in a private checkout. One for each task of
// each machine of a project lies below the state folder of the person, outside of every repository.
type Runner struct {
	place       project.Place
	store       store.Machine
	environment func(store.Snapshot) ([]string, error) // what the commands of a task run with
	copies      func(context.Context) (agreement.Copies, error)

	mu        sync.Mutex
	checkouts map[string]*checkout.Checkout
}

// New returns the runner of a machine.
func New(place project.Place, s store.Machine, environment func(store.Snapshot) ([]string, error), copies func(context.Context) (agreement.Copies, error)) *Runner {
	return &Runner{place: place, store: s, environment: environment, copies: copies, checkouts: map[string]*checkout.Checkout{}}
}

// Busy reports whether the commands of a task's check run, in whatever process.
func (r *Runner) Busy() bool { return checks.Running(r.place.Path(ofTask.lock)) }

// checkout returns the checkout of a task. An engine has one object for each, which remembers what it has compared.
func (r *Runner) checkout(task string) (*checkout.Checkout, error) {
	dir, err := gc.CheckoutsDir(r.place.Root)
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, gc.CheckoutName(r.place.Branch, task))
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.checkouts[dir]
	if c == nil {
		c = checkout.New(dir)
		r.checkouts[dir] = c
	}
	return c, nil
}

// A Site is where the commands of a check run. The zero value is the task's work tree.
type Site struct {
	Clean *checkout.Checkout // nil for the work tree
	dir   string             // "" for the work tree
	env   []string           // of the commands

	sandbox *confinement // nil for none

	top        string              // of the work tree in which commands in a sandbox run; "" for none
	submodules []confine.Submodule // as they are before the commands run
}

// Release ends the use of the site, and of a checkout. What commands in a sandbox have made of submodules is put back: git of a person
// would obey it.
func (s Site) Release() {
	if s.Clean != nil {
		s.Clean.Release()
	}
	for _, n := range s.submodules {
		_ = n.PutBack(s.top) // what cannot be read there is read by nobody
	}
}

// Changed lists files of the tree that the commands changed in the checkout. Of a work tree it lists none: fingerprints tell.
func (s Site) Changed() ([]string, error) {
	if s.Clean == nil {
		return nil, nil
	}
	return s.Clean.Changed()
}

// Result returns what a run at the site says of the tree: one in which files of the tree were changed says nothing.
func (s Site) Result(res checks.Result) checks.Result {
	if res.Status != checks.Passed {
		return res
	}
	moved, err := s.Changed()
	switch {
	case err != nil:
		res.Status, res.Err = checks.GateError, err.Error()
	case len(moved) > 0:
		res.Status, res.Err = checks.GateError, "the checks changed files that they judge: "+format.OneLine(strings.Join(moved, ", "), handover.MaxLine)
	}
	return res
}

// Trouble returns the refusal where checks have no place to run in.
func Trouble(err error) error {
	if refused := (*refusal.RefusedError)(nil); errors.As(err, &refused) {
		return err
	}
	return &refusal.RefusedError{Code: refusal.StoreError, Message: "the checkout of the gate cannot be made: " + err.Error(), Person: true,
		Remedy: "fix what it names, then try again; ferrus gc removes leftover checkouts"}
}

// On returns the run of commands at the site.
func (s Site) On(spec checks.Spec) checks.Spec {
	if s.Clean != nil {
		spec.Dir, spec.Environ = s.dir, s.env
	}
	if s.sandbox != nil {
		spec = s.sandbox.of(spec)
	}
	return spec
}

// A Target says what is to be checked.
type Target struct {
	Task string   // by which the checkout is named
	Tree string   // "" for the work tree as it is
	Base string   // on which the set-up runs: no executor has changed it; "" for tree
	Env  []string // of the commands; nil for this process's own

	Trial bool // of their sandbox
}

// Prepare makes the site of a check: for checks that are configured so, the private checkout of the task, which the caller
// releases, and the sandbox of the commands.
func (r *Runner) Prepare(ctx context.Context, snap store.Snapshot, gate config.Gate, on Target) (Site, error) {
	s, err := r.site(ctx, snap, gate, on)
	if err != nil || !r.confined(gate, on) {
		return s, err
	}
	if err = r.makePrivate(on.kind()); err == nil {
		s.sandbox, err = r.confine(ctx, gate, cmp.Or(s.dir, r.place.Work), on.kind())
	}
	if err == nil && s.Clean == nil {
		s.top, s.submodules, err = r.submodules(ctx)
	}
	if err != nil {
		s.Release()
		return Site{}, err
	}
	return s, nil
}

// site is the place of a check, without its sandbox: in a checkout the set-up runs outside of it.
func (r *Runner) site(ctx context.Context, snap store.Snapshot, gate config.Gate, on Target) (Site, error) {
	if !gate.Checks.Clean() {
		return Site{}, nil
	}
	if on.Env == nil {
		on.Env = os.Environ()
	}
	t, err := worktree.Open(ctx, r.place.Work, r.place.Path("git"), worktree.Options{Root: r.place.Root, Ignore: gate.Checks.Ignore})
	if err != nil {
		return Site{}, err
	}
	if !t.Git() {
		return Site{}, noClean
	}
	if on.Tree == "" {
		if on.Tree, err = t.Fingerprint(ctx); err != nil {
			return Site{}, err
		}
	}
	c, err := r.checkout(on.Task)
	if err != nil {
		return Site{}, err
	}
	// Git is to find no repository above it.
	env := append(slices.Clone(on.Env), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.Files()))
	s := Site{Clean: c, dir: filepath.Join(c.Files(), project.Within(r.place.Root)), env: env}
	copies, err := r.copies(ctx)
	if err != nil {
		return Site{}, err
	}
	l := checkout.Layout{Tree: on.Tree, Within: project.Within(r.place.Root), Copies: copies.Agreed}
	l.Copy = func(dir string, names []string) error {
		_, err := checkout.CopyIncluded(copies.Only(names), copies.Top, dir)
		return err
	}
	if line := strings.TrimSpace(gate.Setup); line != "" {
		l.Base = cmp.Or(on.Base, on.Tree)
		sum := sha256.Sum256([]byte(l.Base + "\x00" + line + copies.Stamp()))
		l.Key = hex.EncodeToString(sum[:])
		l.SetUp = func(ctx context.Context, _ string) error { return r.setUpClean(ctx, gate, s, on) }
	}
	for over := time.Now().Add(gatePatience); ; {
		err := c.Prepare(ctx, t, l)
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

// JudgeClean runs a task's checks on a tree in the task's private checkout. log is relative to the .ferrus folder.
func (r *Runner) JudgeClean(ctx context.Context, snap store.Snapshot, gate config.Gate, tree, log string) (checks.Result, error) {
	if err := r.Await(ctx); err != nil {
		return checks.Result{}, err
	}
	on := Target{Task: snap.Task.TaskID, Tree: tree, Base: snap.Task.SetUpOn()}
	spec, err := r.Spec(snap, gate, log, on)
	if err != nil {
		return checks.Result{}, err
	}
	on.Env = spec.Environ
	at, err := r.Prepare(ctx, snap, gate, on)
	if err != nil {
		return checks.Result{}, Trouble(err)
	}
	defer at.Release()
	res, err := r.Run(ctx, at.On(spec))
	return at.Result(res), err
}

// noClean is why a project without git has no clean gate.
var noClean = &refusal.RefusedError{Code: refusal.InvalidInput, Message: `[checks] where = "clean" needs a git repository, and there is none here`, Person: true,
	Remedy: `run git init and commit once, or set where = "worktree" in ferrus.toml`}

// CanRun refuses checks that could not run here, before they are frozen. It changes nothing: a check may be running.
func (r *Runner) CanRun(ctx context.Context, gate config.Gate) error {
	if r.confined(gate, Target{}) {
		dir := r.place.Work
		if gate.Checks.Clean() {
			var err error
			if dir, err = gc.CheckoutsDir(r.place.Root); err != nil {
				return Trouble(err)
			}
		}
		if _, err := r.confine(ctx, gate, dir, ofTask); err != nil {
			return err
		}
	}
	if !gate.Checks.Clean() {
		return nil
	}
	if common, err := worktree.CommonDir(ctx, r.place.Root); err == nil && common == "" {
		return noClean
	}
	dir, err := gc.CheckoutsDir(r.place.Root)
	if err == nil {
		err = checkout.Outside(dir)
	}
	if err != nil {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: `[checks] where = "clean" has no folder outside of the repository: ` + err.Error(), Person: true,
			Remedy: `set FERRUS_STATE_DIR to one, or where = "worktree" in ferrus.toml`}
	}
	return nil
}

// Spec returns the run of the commands of a check in the task's work tree. log is relative to the .ferrus folder.
func (r *Runner) Spec(snap store.Snapshot, gate config.Gate, log string, on Target) (checks.Spec, error) {
	log, lock, err := r.output(log, on.kind().lock)
	if err != nil {
		return checks.Spec{}, err
	}
	spec := SpecOf(gate, r.place.Work, log, lock)
	spec.Environ, err = r.environment(snap)
	return spec, err
}

// output returns the paths of a log and a lock of a run of commands, whose folders are ours, and made where they are missing.
func (r *Runner) output(log, lock string) (logPath, lockPath string, err error) {
	root, err := r.place.OpenDir()
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	for _, name := range []string{log, lock} {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return "", "", refusal.Folder(err)
		}
	}
	return root.Join(log), root.Join(lock), nil
}

// SpecOf returns the run of the commands of a check in any folder. log and lock are whole paths.
func SpecOf(gate config.Gate, dir, log, lock string) checks.Spec {
	return checks.Spec{Dir: dir, Commands: gate.Checks.Commands, Timeout: gate.Checks.Timeout(),
		Env: gate.Checks.Env, EnvDeny: gate.Checks.EnvDeny, MaxLog: int64(gate.Checks.MaxLogMB) << 20,
		TailLines: gate.Limits.MaxFeedbackLines, Log: log, Lock: lock}
}

// gatePatience is how long a check waits for that of an earlier holder to be gone from the work tree.
const gatePatience = 10 * time.Second

// Await waits until no other process runs a check here. One whose server was killed ends within milliseconds; one
// whose server hangs continues, which says nothing about the work and spends nothing.
func (r *Runner) Await(ctx context.Context) error {
	over := time.After(gatePatience)
	for checks.Running(r.place.Path(ofTask.lock)) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-over:
			return &refusal.RefusedError{Code: refusal.CheckRunning, Message: "a check of the agent that had claimed the task before still runs in this work tree, because its server hangs",
				Remedy: "call check again; a person can end the hung server's process"}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Run runs checks to their end, or to that of ctx.
func (r *Runner) Run(ctx context.Context, spec checks.Spec) (checks.Result, error) {
	run, err := checks.Start(WithPorts(spec))
	if err != nil {
		return checks.Result{}, &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error()}
	}
	checks.Begun(ctx, spec)
	select {
	case <-run.Done():
	case <-ctx.Done():
		run.Stop()
		return checks.Result{}, ctx.Err()
	}
	return run.Result(), nil
}

// Verdict returns why a run of checks did not pass.
func Verdict(run checks.Result) string {
	if run.Status != checks.Failed {
		return "the gate could not run: " + run.Err
	}
	return format.OneLine(Failures(run.Failures()), 400)
}

// Failures lists the commands that failed, in one line.
func Failures(failed []checks.Command) string {
	var parts []string
	for _, f := range failed {
		parts = append(parts, fmt.Sprintf("%s: %s", f.Line, f))
	}
	return strings.Join(parts, "; ")
}

// digits are the numbers of an output.
var digits = safetext.Lazily(`[0-9]+`)

// Digest digests what failed and how, so that the same failure is recognised. The numbers of the output are not in
// it: they are times and addresses.
func Digest(failures []checks.Command) string {
	var b strings.Builder
	for _, f := range failures {
		fmt.Fprintf(&b, "%s\x00%d\x00%s\x00%v\n", f.Line, f.ExitCode, f.Signal, f.TimedOut)
		b.WriteString(digits().ReplaceAllString(f.Tail, "#"))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}
