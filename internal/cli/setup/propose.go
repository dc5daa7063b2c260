package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
)

// The budgets of a task that init proposes. They end a task that goes astray, not one that takes its time.
const (
	proposedMinutes = 120
	proposedDollars = 20
	proposedTokens  = 20_000_000
)

// A proposal is what init would write.
type proposal struct {
	config.Start
	from    map[string]string // where a command was found, by the command
	include []string          // ignored files for .worktreeinclude, relative to the project
	found   []cli.FoundAgent
	asked   bool // a person has seen all of it, and agreed
	git     bool // there is a repository, in which a rehearsal is possible
}

// look finds out what to propose in a project. Nothing of the project runs.
func look(a *cli.App, ctx context.Context, root string, how options) (proposal, error) {
	p := proposal{found: findAgents(a, ctx, root), from: map[string]string{}, git: worktree.Inside(ctx, root)}
	p.HQ = cli.ChooseAgents(p.found)
	for _, role := range []struct {
		flag, name string
		of         *config.Agent
	}{{"--supervisor", how.supervisor, &p.HQ.Supervisor}, {"--executor", how.executor, &p.HQ.Executor}} {
		if role.name == "" {
			continue
		}
		if _, err := agents.Find(role.name); err != nil {
			return p, cli.Refuse(refusal.InvalidInput, role.flag+": "+err.Error(), "name one of them; ferrus agents shows them")
		}
		role.of.Agent = role.name
	}
	files := config.Propose(root)
	p.Checks, p.Setup = files.Commands(), files.SetupLine()
	for _, c := range files.Checks {
		p.from[c.Run] = c.From
	}
	var from []string
	for _, c := range files.Setup {
		from = append(from, c.From)
	}
	p.from[p.Setup] = strings.Join(from, ", ")
	if how.checks != nil {
		p.Checks = how.checks
	}
	p.Limits = budgets(p.HQ)
	if p.git && project.Within(root) == "." && !rootfs.Exists(filepath.Join(root, checkout.IncludeFile)) {
		for _, name := range files.Files {
			if worktree.Ignored(ctx, root, name) {
				p.include = append(p.include, name)
			}
		}
	}
	if a.InTTY && a.OutTTY { // else nobody looks at a desktop
		p.Channels.Desktop = notify.HasDesktop(root)
		if os.Getenv(notifyURL) != "" {
			p.Channels = config.Channels{URLs: []string{"$" + notifyURL}}
		}
	}
	return p, nil
}

// notifyURL is the variable that usually has the URL of a person's channel.
const notifyURL = "FERRUS_NOTIFY_URL"

// budgets proposes limits for a task: minutes, and what both agents report of dollars and tokens.
func budgets(hq config.HQ) config.Limits {
	l := config.Limits{MaxTaskMinutes: proposedMinutes}
	executor, err := agents.Find(hq.Executor.Agent)
	supervisor, missing := agents.Find(hq.Supervisor.Agent)
	switch {
	case err != nil || missing != nil: // one to come may report either
		l.MaxTaskDollars, l.MaxTaskTokens = proposedDollars, proposedTokens
	case executor.Dollars && supervisor.Dollars:
		l.MaxTaskDollars = proposedDollars
	case executor.Tokens && supervisor.Tokens:
		l.MaxTaskTokens = proposedTokens
	}
	return l
}

// budgetText is limits in words.
func budgetText(l config.Limits) string {
	var parts []string
	for _, b := range []struct {
		n    int
		text string
	}{{l.MaxTaskMinutes, "%d minutes"}, {l.MaxTaskDollars, "%d dollars"}, {l.MaxTaskTokens, "%d tokens"}} {
		if b.n > 0 {
			parts = append(parts, fmt.Sprintf(b.text, b.n))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ") + " for one task; then you are asked"
}

// channelText is how a person is notified, in words.
func channelText(c config.Channels) string {
	switch {
	case c.Desktop:
		return "desktop"
	case len(c.URLs) > 0:
		return strings.Join(c.URLs, ", ")
	}
	return "none"
}
