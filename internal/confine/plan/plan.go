// Package plan decides whether an executor can have a sandbox, and what that gives: which mechanism, what it reads and writes, and
// with which environment its client runs. It starts nothing and makes no folder.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/confine"
	"github.com/ferrus-go/ferrus/internal/environ"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/sandbox"
	"github.com/ferrus-go/ferrus/internal/sandbox/toolchain"
	"github.com/ferrus-go/ferrus/internal/trust"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/guest"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// probed is what this process knows of Landlock on this machine: a probe starts processes.
var probed struct {
	sync.Mutex
	known bool
	err   error
}

// holds returns why Landlock does not hold, nil when it does. A probe that took too long is made again.
func holds(ctx context.Context) error {
	probed.Lock()
	defer probed.Unlock()
	if probed.known {
		return probed.err
	}
	self, err := proc.Executable()
	if err == nil {
		err = sandbox.Probe(ctx, sandbox.Landlock, self)
	}
	if !errors.Is(err, sandbox.ErrSlow) && ctx.Err() == nil {
		probed.known, probed.err = true, err
	}
	return err
}

// refuse is the refusal of a sandbox that cannot be.
func refuse(mode, remedy, format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Remedy: remedy,
		Message: fmt.Sprintf("[hq.executor] sandbox = %q: ", mode) + fmt.Sprintf(format, args...)}
}

const switchOff = `set sandbox = "off" under [hq.executor] in ferrus.toml`

// mechanism returns the mechanism of a mode, or why there is none.
func mechanism(ctx context.Context, mode string) (sandbox.Mechanism, error) {
	switch {
	case mode == "" || mode == config.NoSandbox:
		return sandbox.None, nil
	case mode == string(sandbox.Bwrap):
		return sandbox.None, refuse(mode, `set sandbox = "landlock" or "on" under [hq.executor] in ferrus.toml`, "executors cannot run under bubblewrap yet")
	}
	if err := holds(ctx); err != nil {
		return sandbox.None, refuse(mode, switchOff, "%v", err)
	}
	return sandbox.Landlock, nil
}

// Check refuses a gate under which no executor could start in its sandbox. place is that of the task; of a queued task, which gets
// a branch, it is the project's.
func Check(ctx context.Context, gate config.Gate, place project.Place, queued bool) error {
	s := gate.HQ.Sandbox
	if !s.On() {
		return nil
	}
	if _, err := mechanism(ctx, s.Mode); err != nil {
		return err
	}
	if place.Branch == "" && !queued {
		return refuse(s.Mode, "work on a branch: ferrus branch NAME --task \"what is to be done\", then ferrus run --branch NAME; or "+switchOff,
			"an executor in the project's own work tree cannot be kept out of .ferrus")
	}
	if !gate.Checks.Sandboxed() {
		return refuse(s.Mode, `set sandbox = "on" under [checks] too; or `+switchOff, "the checks run what the executor wrote, and have no sandbox")
	}
	p, err := protectedBy(ctx, place)
	if err != nil {
		return err
	}
	if _, _, err := p.lists(s); err != nil {
		return refuse(s.Mode, "correct read and write under [hq.executor] in ferrus.toml", "%v", err)
	}
	r, err := repository.Open(ctx, place.Root, filepath.Join(project.At(place.Root, "").Dir(), "git"), "")
	switch {
	case err != nil:
		return refuse(s.Mode, switchOff, "%v", err)
	case !r.Git():
		return refuse(s.Mode, "run git init and commit once; or "+switchOff, "it needs a git repository, and there is none here")
	}
	switch err := guest.Whole(ctx, r); {
	case errors.Is(err, guest.ErrPartial):
		return refuse(s.Mode, "run git fetch --refetch without a filter, and unset remote.NAME.promisor; or "+switchOff,
			"the repository is a partial clone, and an executor inside cannot fetch what it lacks")
	case err != nil:
		return refuse(s.Mode, switchOff, "%v", err)
	}
	return nil
}

// An Executor is what Order needs to know of an executor.
type Executor struct {
	Gate    config.Gate
	Place   project.Place
	Work    string   // the work tree
	Ferrus  string   // the program whose server the client is to have
	Environ []string // that the client would have without a sandbox
}

// Order returns the sandbox of an executor, without the command line of its server, and the environment of its client. The
// error is one of Check.
func Order(ctx context.Context, e Executor) (*confine.Order, []string, error) {
	if err := Check(ctx, e.Gate, e.Place, false); err != nil {
		return nil, nil, err
	}
	s := e.Gate.HQ.Sandbox
	m, err := mechanism(ctx, s.Mode)
	if err != nil {
		return nil, nil, err
	}
	p, err := protectedBy(ctx, e.Place)
	if err != nil {
		return nil, nil, err
	}
	read, write, err := p.lists(s)
	if err != nil {
		return nil, nil, err
	}
	paths := []string{e.Place.Root, e.Place.Dir(), e.Work, e.Ferrus}
	for i, path := range paths {
		if paths[i], err = filepath.EvalSymlinks(path); err != nil {
			return nil, nil, err
		}
	}
	root, machine, work, ferrus := paths[0], paths[1], paths[2], paths[3]
	folder := confine.Of(machine)
	read = append(read, toolchain.Folders(environ.Lookup(e.Environ, "PATH"), p.home, sandbox.System().Read)...)
	return &confine.Order{Mechanism: m, Folder: folder, Project: root, Work: work, Private: filepath.Join(machine, "git"),
		Read: append(read, ferrus), Write: write, Deny: p.deny(machine)}, clientEnv(e.Environ, folder, p.home), nil
}

// GitEnviron returns the variables by which git in the work tree uses the git directory of the repository, whatever an executor in a
// sandbox has put in the place of .git there. They are for the clients of agents that read its work outside of the sandbox.
func GitEnviron(ctx context.Context, place project.Place, work string) ([]string, error) {
	r, err := repository.Open(ctx, work, filepath.Join(place.Dir(), "git"), place.Root)
	if err != nil || !r.Git() {
		return nil, err
	}
	return []string{"GIT_DIR=" + r.GitDir(), "GIT_WORK_TREE=" + r.Top()}, nil
}

// protected are paths that no executor may be given.
type protected struct {
	root   string   // the project
	ferrus string   // its .ferrus
	common string   // its git directory
	home   string   // of the person
	own    []string // the person's folders of ferrus: records, configuration, clean checkouts
}

func protectedBy(ctx context.Context, place project.Place) (protected, error) {
	p := protected{root: place.Root, ferrus: project.At(place.Root, "").Dir()}
	var err error
	if p.home, err = os.UserHomeDir(); err != nil {
		return p, err
	}
	p.home = cmp.Or(real(p.home), p.home)
	if p.common, err = worktree.CommonDir(ctx, place.Root); err != nil {
		return p, err
	}
	for _, dir := range []func() (string, error){trust.StateDir, trust.ConfigDir} {
		path, err := dir()
		if err != nil {
			return p, err
		}
		p.own = append(p.own, cmp.Or(real(path), path))
	}
	return p, nil
}

// real is a path without links, "" if there is nothing.
func real(path string) string {
	path, _ = filepath.EvalSymlinks(path)
	return path
}
