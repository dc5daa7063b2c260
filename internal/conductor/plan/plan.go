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
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// refuse is the refusal of a sandbox that cannot be.
func refuse(mode string, remedy refusal.Own, format string, args ...any) *refusal.RefusedError {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Remedy: remedy,
		Message: prefix(mode) + fmt.Sprintf(format, args...)}
}

// prefix names the key.
func prefix(mode string) string { return fmt.Sprintf("[hq.executor] sandbox = %q: ", mode) }

const switchOff = `set sandbox = "off" under [hq.executor] in ferrus.toml`

// A decision is what was found out about the sandbox of an executor.
type decision struct {
	mechanism   sandbox.Mechanism
	protected   protected
	read, write []string
	top         string // of the work tree
}

// An unfit error is why there is no sandbox: this machine, the project or the agent is not fit for one. What a person has written
// wrongly is no reason to leave it out.
type unfit struct{ refused *refusal.RefusedError }

func (e unfit) Error() string { return e.refused.Error() }
func (e unfit) Unwrap() error { return e.refused }

// cannot is an unfit error.
func cannot(mode string, remedy refusal.Own, format string, args ...any) error {
	return unfit{refuse(mode, remedy, format, args...)}
}

// decide finds the sandbox that the executors of a gate get, or refuses the gate. place is that of the task; of a queued task,
// which gets a branch, it is the project's.
func decide(ctx context.Context, gate config.Gate, place project.Place, queued bool) (d decision, err error) {
	s := gate.HQ.Sandbox
	if !gate.Checks.Sandboxed() {
		return d, cannot(s.Mode, `set sandbox = "on" under [checks] too; or `+switchOff, "the checks run what the executor wrote, and have no sandbox")
	}
	own := place.Branch == "" && !queued
	d.mechanism, err = sandbox.Choose(ctx, sandbox.Named(s.Mode), func(m sandbox.Mechanism) error {
		if own && m == sandbox.Landlock {
			return errors.New("landlock cannot keep an executor in the project's own work tree out of .ferrus")
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return d, ctx.Err()
	case err != nil && own:
		return d, cannot(s.Mode, "make bubblewrap work: ferrus doctor{branch} --sandbox; or work on a branch: ferrus branch NAME --task \"what is to be done\", then ferrus run --branch NAME; or "+switchOff, "%v", err)
	case err != nil:
		return d, cannot(s.Mode, switchOff, "%v", err)
	}
	if d.protected, err = protectedBy(ctx, place); err != nil {
		return d, err
	}
	r, err := repository.Open(ctx, place.Root, filepath.Join(project.At(place.Root, "").Dir(), "git"), "")
	switch {
	case err != nil:
		return d, cannot(s.Mode, switchOff, "%v", err)
	case !r.Git():
		return d, cannot(s.Mode, "run git init and commit once; or "+switchOff, "it needs a git repository, and there is none here")
	}
	switch err := confine.WholeRepository(ctx, r); {
	case errors.Is(err, confine.ErrPartial):
		return d, cannot(s.Mode, "run git fetch --refetch without a filter, and unset remote.NAME.promisor; or "+switchOff, "%v", err)
	case err != nil:
		return d, cannot(s.Mode, switchOff, "%v", err)
	}
	d.top = place.WorkTree()
	if own {
		d.top, d.protected.work = r.Top(), r.Top()
		if err := d.protected.others(r); err != nil {
			return d, err
		}
	}
	if d.read, d.write, err = d.protected.lists(s); err != nil {
		return d, refuse(s.Mode, "correct read and write under [hq.executor] in ferrus.toml", "%v", err)
	}
	if own {
		for _, path := range append(d.protected.own, d.protected.home) {
			if rootfs.Within(d.top, path) {
				return d, cannot(s.Mode, "work on a branch: ferrus branch NAME --task \"what is to be done\", then ferrus run --branch NAME; or "+switchOff,
					"the work tree %s contains %s", d.top, path)
			}
		}
	}
	return d, nil
}

// Check refuses a gate under which no executor could start in its sandbox. place is that of the task; of a queued task, which gets
// a branch, it is the project's.
func Check(ctx context.Context, gate config.Gate, place project.Place, queued bool) error {
	if !gate.HQ.Sandbox.On() {
		return nil
	}
	_, err := decide(ctx, gate, place, queued)
	if gate.HQ.Sandbox.Mode == config.AutoSandbox && errors.As(err, new(unfit)) {
		return nil
	}
	return err
}

// Sandboxed reports whether an executor of a gate gets a sandbox, so that checks which follow it have one.
func Sandboxed(ctx context.Context, gate config.Gate, place project.Place, agent agents.Adapter, environ []string) bool {
	if !gate.HQ.Sandbox.On() {
		return false
	}
	_, err := decide(ctx, gate, place, false)
	return err == nil && (gate.HQ.Sandbox.Mode != config.AutoSandbox || LoggedIn(gate, place, agent) || agent.Keyed(environ))
}

// An Executor is what Of needs to know of an executor.
type Executor struct {
	Gate    config.Gate
	Place   project.Place
	Work    string   // the folder that it works in
	Ferrus  string   // the program whose server the client is to have
	Environ []string // that the client would have without a sandbox
	Agent   agents.Adapter
}

// A Plan is how an executor starts.
type Plan struct {
	Order   *confine.Order // without the command line of the server; nil for no sandbox
	Environ []string       // of the client in the sandbox
	Outside string         // why an executor that can have a sandbox has none, and what changes that; "" otherwise
}

// Of returns how an executor starts. The error is one of Check.
func Of(ctx context.Context, e Executor) (Plan, error) {
	s := e.Gate.HQ.Sandbox
	if !s.On() {
		return Plan{}, nil
	}
	d, err := decide(ctx, e.Gate, e.Place, false)
	login := LoggedIn(e.Gate, e.Place, e.Agent)
	if s.Mode == config.AutoSandbox && err == nil && !login && !e.Agent.Keyed(e.Environ) {
		err = cannot(s.Mode, way(e.Agent), "its client has no key and no login of its own")
	}
	if why := (unfit{}); s.Mode == config.AutoSandbox && errors.As(err, &why) {
		return Plan{Outside: "not in a sandbox: " + strings.TrimPrefix(why.refused.Message, prefix(s.Mode)) + "; " + why.refused.Remedy.String()}, nil
	}
	if err != nil {
		return Plan{}, err
	}
	paths := []string{e.Place.Root, e.Place.Dir(), e.Work, e.Ferrus, d.top}
	for i, path := range paths {
		if paths[i], err = filepath.EvalSymlinks(path); err != nil {
			return Plan{}, err
		}
	}
	root, machine, work, ferrus, top := paths[0], paths[1], paths[2], paths[3], paths[4]
	folder := confine.Of(machine)
	o := &confine.Order{Mechanism: d.mechanism, Folder: folder, Project: root, Work: work, Top: top, Private: filepath.Join(machine, "git"),
		Write: d.write}
	if login {
		o.Login = confine.Login(root, e.Agent.Name)
	}
	client := d.protected.client(machine, e.Environ, o.Home(), folder.Temp())
	o.Read, o.Deny = slices.Concat(d.read, []string{ferrus}, client.read), client.deny
	if d.mechanism == sandbox.Landlock {
		o.Read = append(o.Read, sandbox.Above(root)...)
	}
	d.protected.within(o)
	return Plan{Order: o, Environ: client.environ}, nil
}

// way is how the client of an agent gets what it needs in a sandbox.
func way(a agents.Adapter) refusal.Own {
	keys := a.Keys()
	if len(keys) == 0 {
		return `set sandbox = "on" under [hq.executor] if it needs none; or "off"`
	}
	return refusal.Say("set %s, or run ferrus open{branch} executor --login", keys[0])
}

// GitEnviron returns the variables by which git in the work tree uses the git directory of the repository, whatever an executor in a
// sandbox has put in the place of .git there, and does not look into submodules. They are for the clients of agents that read its work
// outside of the sandbox.
func GitEnviron(ctx context.Context, place project.Place, work string) ([]string, error) {
	r, err := repository.Open(ctx, work, filepath.Join(place.Dir(), "git"), place.Root)
	if err != nil || !r.Git() {
		return nil, err
	}
	env, err := confine.WithoutSubmodules(ctx, r, filepath.Join(r.Private(), "index.agents"))
	return append(env, "GIT_DIR="+r.GitDir(), "GIT_WORK_TREE="+r.Top()), err
}

// protected are paths that no executor may be given.
type protected struct {
	root   string   // the project
	ferrus string   // its .ferrus
	common string   // its git directory
	home   string   // of the person
	work   string   // the top of the project's own work tree, if the executor works there; "" otherwise
	inner  []string // folders in work that are none of the executor's: other work trees, and .ferrus of other projects
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
