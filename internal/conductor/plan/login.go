package plan

import (
	"context"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project"
)

// A Login is how the client of an agent starts when a person logs in for the executors of a project.
type Login struct {
	Prefix  []string // the command line that starts a command in the sandbox
	Environ []string
	Home    string // the home folder, which keeps the login, and the working directory
}

// LogIn makes the home folder of a login, and returns how the client starts there. It starts in a sandbox as executors do: what one of
// them has left in that folder must not act for the person. The error is one of Check.
func LogIn(ctx context.Context, gate config.Gate, place project.Place, agent agents.Adapter, others []string) (Login, error) {
	s := gate.HQ.Sandbox
	if !s.On() {
		return Login{}, refuse(s.Mode, `set sandbox = "auto" under [hq.executor] in ferrus.toml`, "without a sandbox, executors use the login of your own home folder")
	}
	m, err := sandbox.Choose(ctx, sandbox.Named(s.Mode), func(sandbox.Mechanism) error { return nil })
	if err != nil {
		return Login{}, refuse(s.Mode, switchOff, "%v", err)
	}
	p, err := protectedBy(ctx, place)
	if err != nil {
		return Login{}, err
	}
	home := confine.Login(place.Root, agent.Name)
	root, err := rootfs.OpenBelow(home, project.DirName, 0o700)
	if err != nil {
		return Login{}, err
	}
	defer root.Close()
	if err := root.MkdirAll("tmp", 0o700); err != nil {
		return Login{}, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return Login{}, err
	}
	self, err := proc.Executable()
	if err != nil {
		return Login{}, err
	}
	client := p.client(place.Dir(), others, home, filepath.Join(home, "tmp"))
	policy := sandbox.System()
	policy.Dir, policy.Network, policy.Write, policy.Deny = home, true, []string{home}, client.deny
	policy.Read = append(policy.Read, client.read...)
	prefix, err := sandbox.Command(m, policy, self, nil)
	return Login{Prefix: prefix, Environ: append(client.environ, "PWD="+home), Home: home}, err
}

// LoggedIn reports whether the executors of a project have a login of their own, which they use.
func LoggedIn(gate config.Gate, place project.Place, agent agents.Adapter) bool {
	return gate.HQ.Sandbox.On() && agent.LoggedIn(confine.Login(place.Root, agent.Name))
}
