package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// AgentsCommand is ferrus agents.
func AgentsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "List the agents that ferrus can start",
		Long: `Lists the agents that ferrus can start, whether they are installed, and what
each of them cannot do. In a project, the running agents of its task come first.`,
		Example: `  ferrus agents
  ferrus agents --json`,
		Annotations: cli.Reference("", `working[{run duty agent started ...}] known[{name title program path version
lacks[]}].`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAgents(a, cmd.Context()) },
	}
}

// A knownAgent is an adapter and what is here of it.
type knownAgent struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Program string   `json:"program,omitempty"`
	Path    string   `json:"path,omitempty"` // "" when it is not installed
	Version string   `json:"version,omitempty"`
	Install string   `json:"install,omitempty"`
	Lacks   []string `json:"lacks,omitempty"`
}

func listAgents(a *cli.App, ctx context.Context) error {
	var working []status.AgentReport
	if e, err := a.OpenToRead(ctx); err == nil {
		r, err := status.Read(e)
		e.Close()
		if err != nil {
			return err
		}
		working = r.Agents
	}
	dir, err := a.WorkingDir()
	if err != nil {
		return err
	}
	environ := cli.Programs(dir)
	var list []knownAgent
	for _, x := range agents.All() {
		k := knownAgent{Name: x.Name, Title: x.Title, Program: x.Program, Install: x.Install, Lacks: x.Lacks}
		if path, err := x.Path(environ); err == nil && path != "" {
			k.Path = path
			k.Version, _ = x.Version(ctx, environ)
		}
		list = append(list, k)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"working": working, "known": list})
	}
	for _, w := range working {
		a.ShowAgent(w)
	}
	if len(working) > 0 {
		a.Say("\n")
	}
	for _, k := range list {
		what := a.Paint(cli.Dim, "not installed: "+k.Install)
		switch {
		case k.Program == "":
			what = a.Paint(cli.Green, "always there")
		case k.Path != "":
			what = a.Paint(cli.Green, strings.TrimSpace(k.Version)+"  "+k.Path)
		}
		a.Say("%s  %-24s  %s\n", a.Paint(cli.Bold, fmt.Sprintf("%-12s", k.Name)), k.Title, what)
		for _, l := range k.Lacks {
			a.Say("%14s%s\n", "", a.Paint(cli.Dim, l))
		}
	}
	return nil
}
