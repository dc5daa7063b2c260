package checkrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A confinement is the sandbox of the commands of a check.
type confinement struct {
	prefix []string // that starts a command in it
	env    []string // that the commands have in it
}

// of returns the run of commands in the sandbox.
func (c *confinement) of(spec checks.Spec) checks.Spec {
	own := spec.Environ
	if own == nil {
		own = os.Environ()
	}
	spec.Prefix, spec.Environ = c.prefix, slices.Concat(own, c.env)
	return spec
}

// mechanism returns the mechanism of a gate, or why none holds that it could have. One that is chosen for the person may leave the
// network on.
func mechanism(ctx context.Context, c config.Checks) (sandbox.Mechanism, error) {
	m, err := sandbox.Choose(ctx, sandbox.Named(c.Sandbox), func(m sandbox.Mechanism) error {
		if m != sandbox.Bwrap && !network(c, m) {
			return fmt.Errorf("%s cannot take the network away", m)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = &refusal.RefusedError{Code: refusal.InvalidInput, Person: true,
			Message: fmt.Sprintf("[checks] sandbox = %q does not hold here: %v", c.Sandbox, err),
			Remedy:  `make bubblewrap work: ferrus doctor{branch} --sandbox; or set network = true, or sandbox = "off" under [checks] in ferrus.toml`}
	}
	return m, err
}

// confined reports whether the commands of a gate run in a sandbox. Checks that follow the executor do so once one has worked in a
// sandbox here, or where a sandbox is tried.
func (r *Runner) confined(gate config.Gate, on Target) bool {
	if gate.Checks.Sandbox == config.AutoSandbox {
		return on.kind().confined || confine.Of(r.place.Dir()).Used()
	}
	return gate.Checks.Sandboxed()
}

// nameOf names the sandbox that the commands of a gate have where they have one, in few words.
func nameOf(ctx context.Context, c config.Checks) (string, error) {
	m, err := mechanism(ctx, c)
	if err == nil && !network(c, m) {
		return string(m) + ", without a network", nil
	}
	return string(m), err
}

// network reports whether the commands of a gate have a network in a sandbox.
func network(c config.Checks, m sandbox.Mechanism) bool {
	return c.Network || c.Sandbox == config.AutoSandbox && m != sandbox.Bwrap
}

// confine returns the sandbox of the commands that run in a folder, or why there is none. It makes no folder. The commands write
// the folder, and a home, a folder for temporary files and caches of their own, which no agent and no person uses. They read the
// tools that are on the PATH, and the repository of the project.
func (r *Runner) confine(ctx context.Context, gate config.Gate, dir string, k kind) (*confinement, error) {
	m, err := mechanism(ctx, gate.Checks)
	if err != nil {
		return nil, err
	}
	self, err := proc.Executable()
	if err != nil {
		return nil, err
	}
	machine, err := filepath.EvalSymlinks(r.place.Dir())
	if err != nil {
		return nil, err
	}
	private := filepath.Join(machine, privateDir)
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	p := sandbox.System()
	p.Dir, p.Network = dir, network(gate.Checks, m)
	p.Write = append(p.Write, dir, private)
	if err := r.unlinked(gate.Checks); err != nil {
		return nil, err
	}
	p.Read = append(p.Read, gate.Checks.Read...)
	p.Read = append(p.Read, sandbox.Folders(os.Getenv("PATH"), home, p.Read)...)
	p.Read = append(p.Read, slices.Sorted(maps.Values(sandbox.Crates(home)))...)
	if m == sandbox.Landlock && rootfs.Within(r.place.Root, dir) { // with bwrap they do not exist
		p.Read = append(p.Read, sandbox.Above(r.place.Root)...)
	}
	if common, err := worktree.CommonDir(ctx, r.place.Root); err == nil && common != "" {
		p.Read, p.Hidden = withGit(p.Read, common, m)
	}
	p.Read = append(p.Read, confine.Of(machine).Git()) // which the work tree names while an executor in a sandbox works
	own := project.At(r.place.Root, "").Dir()
	p.Deny = []string{filepath.Join(own, "journal.jsonl"), filepath.Join(own, "tokens.json"),
		filepath.Join(home, ".ssh"), filepath.Join(home, ".gnupg"), filepath.Join(home, ".pgpass"), filepath.Join(home, ".pg_service.conf")}
	if m == sandbox.Bwrap && rootfs.Within(dir, own) {
		p.Hidden = append(p.Hidden, own)
	}
	prefix, err := sandbox.Command(m, p, self, nil)
	if refused := (*sandbox.PolicyError)(nil); errors.As(err, &refused) {
		return nil, &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Message: fmt.Sprintf("[checks] sandbox = %q: %s", gate.Checks.Sandbox, refused.Reason),
			Remedy: `under [checks] set where = "clean", or sandbox = "bwrap"; or work on a branch`}
	}
	return &confinement{prefix: prefix, env: privateEnv(machine, k, home)}, err
}

// unlinked refuses a path of a gate that leads out of the project by a link: an agent can make links there.
func (r *Runner) unlinked(c config.Checks) error {
	root, err := filepath.EvalSymlinks(r.place.Root)
	if err != nil {
		return err
	}
	for _, path := range c.Read {
		within, err := filepath.Rel(r.place.Root, path)
		if err != nil || !filepath.IsLocal(within) {
			continue
		}
		if to, err := filepath.EvalSymlinks(path); err == nil && to != filepath.Join(root, within) {
			return &refusal.RefusedError{Code: refusal.InvalidInput, Person: true, Message: fmt.Sprintf("[checks] read = %q leads to %s, by a link in the project, where an agent can make links", path, to),
				Remedy: "name the path that is meant under [checks] read in ferrus.toml, or remove the link"}
		}
	}
	return nil
}

// withGit adds a git directory to what the commands read, but for what ferrus keeps there. With bubblewrap it is read-only as
// a whole, also where it lies in a folder that the commands write.
func withGit(read []string, common string, m sandbox.Mechanism) (list, hidden []string) {
	ours := filepath.Join(common, "ferrus")
	if m == sandbox.Bwrap {
		if _, err := os.Stat(ours); err == nil {
			hidden = []string{ours}
		}
		return append(read, common), hidden
	}
	entries, _ := os.ReadDir(common) // without it git says what is missing
	for _, e := range entries {
		if path := filepath.Join(common, e.Name()); path != ours {
			read = append(read, path)
		}
	}
	return read, nil
}
