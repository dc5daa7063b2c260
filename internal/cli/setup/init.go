// Package setup has the commands that prepare a project and its clients: init, config, trust, agents, register, open, token,
// serve and version.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/propose"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/origin"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// InitCommand is ferrus init.
func InitCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Set up ferrus in this folder",
		Long: `Writes ferrus.toml with the checks that it finds in the project, .ferrus/ for
the state, and a line in .gitignore. What is in a file stays as it is. It looks
for installed agents and whether they are logged in, without using a model. On a
terminal it shows a proposal and asks; otherwise it writes the proposal. Agents
are added to a ferrus.toml that names none.`,
		Example: `  ferrus init
  ferrus init -C ~/src/app --json`,
		Annotations: cli.Reference(`Checks are also found in folders below the project. One agent may play both
roles. A second run changes nothing, unless ferrus.toml names no agents and
there are some now: it adds them at the end, and shows the lines. If the journal
was deleted with its folder, it is restored from its hard-linked copy in the git
directory.`, `root wrote[] checks restored supervisor executor found[{name path version
logged_out broken}] added.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(a, cmd.Context()) },
	}
}

// A Setup is what init has done.
type Setup struct {
	Root     string   `json:"root"`
	Wrote    []string `json:"wrote"`  // relative to root
	Checks   []string `json:"checks"` // that ferrus.toml was given; null when it was there
	Restored bool     `json:"restored"`

	Supervisor string           `json:"supervisor,omitempty"` // the agents that ferrus.toml was given
	Executor   string           `json:"executor,omitempty"`
	Found      []cli.FoundAgent `json:"found"`           // the agents that are installed; null when ferrus.toml was there and was given none
	Added      string           `json:"added,omitempty"` // the lines that name them, at the end of a ferrus.toml that was there

	warning string
}

func initialise(a *cli.App, ctx context.Context) error {
	if err := a.RefuseAgent("init"); err != nil {
		return err
	}
	if a.Branch != "" {
		return cli.UsageError("omit --branch", "init does not set up branches")
	}
	root, err := a.WorkingDir()
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(filepath.ToSlash(root), "/"), ".ferrus") {
		return cli.Refuse(refusal.InvalidInput, root+" is inside a .ferrus folder", "change to the project, or name it with -C DIR")
	}
	if project.Upstream(root) {
		return cli.Refuse(refusal.WrongState, "there is a .ferrus of upstream ferrus in "+root,
			"ferrus doctor{branch} --fix archives it and creates a new one")
	}
	did, err := SetUp(a, ctx, root)
	if err == nil && did.Checks == nil {
		err = addAgents(a, ctx, &did)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(did)
	}
	showSetup(a, did)
	return nil
}

// SetUp makes what is missing.
func SetUp(a *cli.App, ctx context.Context, root string) (Setup, error) {
	did := Setup{Root: root, Wrote: []string{}}
	if err := project.CheckIgnore(ctx, root); err != nil {
		return did, err
	}
	there := project.At(root, "").Initialised()
	record, err := trust.Open(root)
	if err != nil {
		return did, err
	}
	if err := origin.Foreign(ctx, project.At(root, ""), record); refusal.CodeOf(err) == refusal.ForeignState {
		return did, err
	}
	if did.Restored, err = origin.Revive(project.At(root, ""), record); err != nil {
		return did, err
	}
	origin.MarkEmpty(project.At(root, ""), record)
	if !there {
		did.Wrote = append(did.Wrote, ".ferrus/")
	}
	wrote, err := project.Copy(root)
	if err != nil {
		return did, err
	}
	if there {
		did.Wrote = append(did.Wrote, wrote...)
	}
	if name := filepath.Join(root, config.FileName); !rootfs.Exists(name) {
		did.Found = findAgents(a, ctx, root)
		checks, hq := choose(a, propose.Look(root).Commands(), cli.ChooseAgents(did.Found), did.Found)
		switch err := create(name, config.Render(checks, hq)); {
		case err == nil:
			did.Wrote, did.Checks = append(did.Wrote, config.FileName), append([]string{}, checks...)
			did.Supervisor, did.Executor = hq.Supervisor.Agent, hq.Executor.Agent
			did.warning = cli.TrustOwnFile(root, config.Render(checks, hq))
		case !errors.Is(err, fs.ErrExist):
			return did, err
		}
	}
	if worktree.Inside(ctx, root) && !worktree.Ignored(ctx, root, ".ferrus/journal.jsonl") {
		if err := project.Ignore(root); err != nil {
			return did, err
		}
		did.Wrote = append(did.Wrote, ".gitignore")
		if !worktree.Ignored(ctx, root, ".ferrus/journal.jsonl") {
			did.warning = "git still does not ignore .ferrus: check .gitignore"
		}
	}
	return did, nil
}

// create writes a file that must not exist.
func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func showSetup(a *cli.App, did Setup) {
	if len(did.Wrote) == 0 && !did.Restored {
		a.Say("nothing to do: ferrus is set up in %s\n", did.Root)
		return
	}
	a.Say("ferrus is set up in %s\n", did.Root)
	if did.Restored {
		from := "the journal with its tasks, restored from its hard-linked copy"
		if project.At(did.Root, "").InDatabase() {
			from = "the folder of the project, whose tasks are in the database"
		}
		a.ShowRow("restored", from)
	}
	what := map[string]string{".ferrus/": "the state of the task, and skills for agents; edit only workflows.json",
		".gitignore": "one line: /.ferrus/"}
	for _, name := range did.Wrote {
		if name == config.FileName && did.Added != "" {
			a.ShowRow("added", name+", at its end:")
			a.Say("%s\n", format.Indent(did.Added, "              "))
			continue
		}
		a.ShowRow("wrote", strings.TrimRight(fmt.Sprintf("%-14s  %s", name, what[name]), " "))
		if name == config.FileName {
			for _, c := range did.Checks {
				a.ShowRow("", fmt.Sprintf("%-14s  check: %s", "", c))
			}
			for _, role := range []struct{ is, agent string }{{"supervisor", did.Supervisor}, {"executor", did.Executor}} {
				if role.agent != "" {
					a.ShowRow("", fmt.Sprintf("%-14s  %s: %s", "", role.is, role.agent))
				}
			}
		}
	}
	if did.warning != "" {
		a.ShowRow("warning", a.Paint(cli.Yellow, did.warning))
	}
	if did.Checks != nil || did.Added != "" {
		showFound(a, did.Found, did.Supervisor, did.Executor)
	}
	a.ShowSteps(nextOf(did))
}

// nextOf are the steps from a project that is set up to its first task.
func nextOf(did Setup) []status.Step {
	list := []status.Step{{Command: "ferrus trust", Why: "shows what ferrus.toml can run, and asks whether you trust it"}}
	if did.Checks != nil { // ferrus.toml is ours, and what it says was agreed to
		edit := "make sure that these checks define \"done\""
		switch {
		case len(did.Checks) == 0:
			edit = "name the checks: no tests were found, and without checks nothing can be submitted"
		case did.Supervisor == "" || did.Executor == "":
			edit = "name the agents, and make sure that these checks define \"done\""
		}
		list = []status.Step{{Command: "$EDITOR ferrus.toml", Why: edit},
			{Command: "ferrus trust", Why: "shows what ferrus.toml can run, and asks about what you have changed"}}
	}
	return append(list, status.Step{Command: "ferrus check", Why: "runs the checks once, without a task"},
		status.Step{Command: `ferrus run "what is to be done"`, Why: "starts the agents and waits for the first task"})
}
