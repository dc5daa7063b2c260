package cli

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
)

// A FoundAgent is an agent's client that is installed here.
type FoundAgent struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Version   string `json:"version,omitempty"`
	LoggedOut bool   `json:"logged_out,omitempty"` // the client itself says so
	Silent    bool   `json:"silent,omitempty"`     // it did not say in time whether it is logged in
	Broken    string `json:"broken,omitempty"`     // why it does not even say its version

	Adapter agents.Adapter `json:"-"`
}

// works reports whether an agent can be expected to work.
func (s FoundAgent) works() bool { return s.Broken == "" && !s.LoggedOut && !s.Silent }

// findTime is how long all clients together may take to answer [FindAgents].
const findTime = 3 * time.Second

// FindAgents are the clients that are installed here, in the order of the documentation. Each is asked for its version and
// whether it is logged in, all side by side; no model is asked. What has not answered after three seconds, or at the end of ctx, is not
// waited for. dir is in the project, whose programs do not count.
func FindAgents(ctx context.Context, dir string) []FoundAgent {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	return find(ctx, dir)
}

// find is FindAgents without a limit of its own.
func find(ctx context.Context, dir string) []FoundAgent {
	environ := Programs(dir)
	found := findPrograms(environ)
	answers := make(chan func(), 2*len(found)) // so that nobody waits for this function
	for i := range found {
		s, x := &found[i], found[i].Adapter
		go func() {
			version, err := x.Version(ctx, environ)
			answers <- func() {
				if s.Version, s.Broken = version, ""; err != nil {
					s.Broken = err.Error()
				}
			}
		}()
		go func() {
			out := x.LoggedOut(ctx, environ)
			answers <- func() { s.LoggedOut, s.Silent = out, false }
		}()
	}
	for range cap(answers) {
		select {
		case <-ctx.Done():
			return found
		case answer := <-answers:
			if ctx.Err() != nil { // it is that of a client that was ended
				return found
			}
			answer()
		}
	}
	return found
}

// findPrograms finds the agents whose programs are on the PATH of environ. None has been asked yet.
func findPrograms(environ []string) []FoundAgent {
	found := []FoundAgent{}
	for _, x := range agents.All() {
		if path, err := x.Path(environ); err == nil {
			found = append(found, FoundAgent{Name: x.Name, Path: path, Adapter: x, Silent: true, Broken: "it does not print its version in time"})
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

// InstallAgent is the command that gets a person an agent where none is installed.
var InstallAgent = agents.All()[0].Install

// NamesAgents reports whether a ferrus.toml has a key of [hq].
func NamesAgents(conf config.Config) bool {
	for _, r := range conf.Explain() {
		if r.Set() && strings.HasPrefix(r.Key, "hq.") {
			return true
		}
	}
	return false
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
