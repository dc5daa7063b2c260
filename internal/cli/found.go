package cli

import (
	"context"
	"sync"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
)

// A FoundAgent is an agent's client that is installed here.
type FoundAgent struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Version   string `json:"version,omitempty"`
	LoggedOut bool   `json:"logged_out,omitempty"` // the client itself says so
	Broken    string `json:"broken,omitempty"`     // why it does not even say its version

	Adapter agents.Adapter `json:"-"`
}

// works reports whether an agent can be expected to work.
func (s FoundAgent) works() bool { return s.Broken == "" && !s.LoggedOut }

// FindAgents are the clients that are installed here, in the order of the documentation. Each is asked for its version and
// whether it is logged in; no model is asked. dir is in the project, whose programs do not count.
func FindAgents(ctx context.Context, dir string) []FoundAgent {
	environ := Programs(dir)
	all := agents.All()
	seen := make([]*FoundAgent, len(all))
	var asked sync.WaitGroup
	for i, x := range all {
		path, err := x.Path(environ)
		if err != nil {
			continue
		}
		asked.Go(func() {
			s := FoundAgent{Name: x.Name, Path: path, Adapter: x}
			if s.Version, err = x.Version(ctx, environ); err != nil {
				s.Broken = err.Error()
			} else {
				s.LoggedOut = x.LoggedOut(ctx, environ)
			}
			seen[i] = &s
		})
	}
	asked.Wait()
	found := []FoundAgent{}
	for _, s := range seen {
		if s != nil {
			found = append(found, *s)
		}
	}
	return found
}

// AskClients has the clients of agents asked side by side whether they are logged in. Under the context that it returns each client is
// asked once, however many callers ask. The caller calls end; nothing that was begun is left then.
func AskClients(ctx context.Context, root string, who ...config.Agent) (asking context.Context, end func()) {
	asking, cancel := context.WithCancel(agents.AskOnce(ctx))
	environ := Programs(root)
	var asked sync.WaitGroup
	for _, w := range who {
		if x, err := agents.Find(w.Agent); err == nil {
			asked.Go(func() { x.LoggedOut(asking, environ) })
		}
	}
	return asking, func() {
		cancel()
		asked.Wait()
	}
}

// InstallAgent is how a person gets an agent where none is installed: what to do, and the lines of ferrus.toml that name it.
func InstallAgent() (text, lines string) {
	first := agents.All()[0]
	return first.Install + " installs one, which can play both roles:", bothRoles(first.Name)
}

// bothRoles are the lines of ferrus.toml that name one agent for both roles.
func bothRoles(agent string) string {
	return config.Lines("hq.supervisor.agent", agent) + "\n" + config.Lines("hq.executor.agent", agent)
}

// ChooseAgents is who could play the two roles: the usual agents where they work, else the first that works for both; where none works,
// one that is installed. The names are empty where there is none.
func ChooseAgents(found []FoundAgent) config.HQ {
	hq, usual := config.HQ{}, config.Default().HQ
	for _, role := range []struct {
		of    *config.Agent
		usual string
	}{{&hq.Supervisor, usual.Supervisor.Agent}, {&hq.Executor, usual.Executor.Agent}} {
		best := 0
		for _, s := range found {
			rank := 1
			if s.works() {
				rank = 3
			} else if s.Broken == "" {
				rank = 2
			}
			if rank = 2 * rank; s.Name == role.usual {
				rank++
			}
			if rank > best {
				best, role.of.Agent = rank, s.Name
			}
		}
	}
	return hq
}
