package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/proc"
	"github.com/ferrus-go/ferrus/internal/slot"
)

func agentsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "The agents that ferrus can start, and those at work",
		Long: `Lists the agents that ferrus can start, whether they are installed here, and what each of them cannot do; before them, in
a project, the agents at work on its task.

With --json: working[{run duty agent started ...}] known[{name title program path version lacks[]}].`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.agents(cmd.Context()) },
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

func (a *app) agents(ctx context.Context) error {
	var working []agentReport
	if e, err := a.look(ctx); err == nil {
		r, err := gather(e)
		e.Close()
		if err != nil {
			return err
		}
		working = r.Agents
	}
	dir, err := a.where()
	if err != nil {
		return err
	}
	environ := programs(dir)
	var list []knownAgent
	for _, x := range agents.All() {
		k := knownAgent{Name: x.Name, Title: x.Title, Program: x.Program, Install: x.Install, Lacks: x.Lacks}
		if path, err := x.Path(environ); err == nil && path != "" {
			k.Path = path
			k.Version, _ = x.Version(ctx, environ)
		}
		list = append(list, k)
	}
	if a.json {
		return a.print(map[string]any{"working": working, "known": list})
	}
	for _, w := range working {
		a.agentRow(w)
	}
	if len(working) > 0 {
		a.say("\n")
	}
	for _, k := range list {
		what := a.paint(dim, "not installed: "+k.Install)
		switch {
		case k.Program == "":
			what = a.paint(green, "always there")
		case k.Path != "":
			what = a.paint(green, strings.TrimSpace(k.Version)+"  "+k.Path)
		}
		a.say("%s  %-24s  %s\n", a.paint(bold, fmt.Sprintf("%-12s", k.Name)), k.Title, what)
		for _, l := range k.Lacks {
			a.say("%14s%s\n", "", a.paint(dim, l))
		}
	}
	return nil
}

// programs is the environment in which programs of the person are looked for: with a PATH that has no folder of the
// project that dir belongs to.
func programs(dir string) []string { return proc.Outside(os.Environ(), proc.WorkTree(dir)) }

// agentRow shows an agent at work.
func (a *app) agentRow(w agentReport) {
	text := w.Name + "  " + w.Agent + "  for " + span(time.Since(w.Started))
	if u := used(w.Usage); u != "" {
		text += ", " + u
	}
	if w.Doing != "" {
		text += "  " + clip(line(w.Doing), 60)
	}
	a.row("at work", a.paint(roleColour[w.Duty.Role()], text))
}

// how says how a run ended, where that is not as it should be.
func how(r slot.Run) string {
	switch {
	case r.Trouble == agents.RateLimited && !r.Until.IsZero():
		return ": rate limit until " + clock(r.Until)
	case r.Trouble != "":
		return ": " + strings.ReplaceAll(string(r.Trouble), "_", " ")
	case !r.Began():
		return ": " + r.Error
	case r.Stopped || r.Cut:
		return ", ended by ferrus"
	case r.Signal != "":
		return ", killed by " + r.Signal
	case r.Error != "":
		return ": " + r.Error
	case r.Exit != 0:
		return fmt.Sprintf(", exit status %d", r.Exit)
	}
	return ""
}
