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
