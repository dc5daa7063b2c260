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
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// options are the flags of ferrus init.
type options struct {
	yes, rehearse        bool
	executor, supervisor string
	checks               []string // nil for those that are found
}

// writes reports whether the flags say what is to be in a new ferrus.toml.
func (o options) writes() bool { return o.checks != nil || o.executor != "" || o.supervisor != "" }

// InitCommand is ferrus init.
func InitCommand(a *cli.App) *cobra.Command {
	var how options
	cmd := &cobra.Command{
		Use:   "init [--yes] [--rehearse] [FLAGS]",
		Short: "Set up ferrus in this folder",
		Long: `Writes ferrus.toml with checks, a set-up of work trees, agents and limits. What
is in a file stays as it is. It looks for tools of the project, and for agents
that are installed and logged in, without using a model. On a terminal it shows
each command and where it was found, and asks once. Enter also runs them in a
fresh work tree. Without a terminal it writes the proposal, and runs the
commands only with --rehearse.`,
		Example: `  ferrus init
  ferrus init --yes --executor codex --check "make test"
  ferrus init --yes --rehearse --json`,
		Annotations: cli.Reference(`It also writes .ferrus/ for the state and a line in .gitignore. Projects are
found in folders below, too. The lock file decides about the set-up. One agent
may play both roles. Clients are asked side by side, for three seconds. If git
ignores files such as .env, it proposes .worktreeinclude, which names them for
new work trees.

A rehearsal runs the set-up and the checks once, on a copy of the files. The
checks run in the sandbox that they will have. It shows what failed with the
last ten lines, what was written into the tree, and what was probably missing.
The exit code is 1 if it failed. Before the commands have passed a rehearsal,
"ferrus run" starts no agent unless you say so. Values that were in ferrus.toml
or workflows.json before need ferrus trust first.

A second run changes nothing, unless ferrus.toml names no agents and there are
some now: it adds them at the end, and shows the lines. If the journal was
deleted with its folder, it is restored from its hard-linked copy in the git
directory.`, `root wrote[] checks setup restored supervisor executor limits include[]
found[{name path version logged_out silent broken}] added
rehearsal{passed setup checks wrote[] made[] edited[] sandbox network log}.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(a, cmd.Context(), how) },
	}
	cmd.Flags().BoolVarP(&how.yes, "yes", "y", false, "take the proposal without asking")
	cmd.Flags().BoolVar(&how.rehearse, "rehearse", false, "run the set-up and the checks once in a fresh work tree")
	cmd.Flags().StringVar(&how.supervisor, "supervisor", "", "the `AGENT` that reviews")
	cmd.Flags().StringVar(&how.executor, "executor", "", "the `AGENT` that does the work")
	cmd.Flags().StringArrayVar(&how.checks, "check", nil, "a `COMMAND` that must exit 0, instead of those found; repeatable")
	cmd.Flags().SortFlags = false
	return cmd
}

// A Setup is what init has done.
type Setup struct {
	Root     string   `json:"root"`
	Wrote    []string `json:"wrote"`           // relative to root
	Checks   []string `json:"checks"`          // that ferrus.toml was given; null when it was there
	SetUp    string   `json:"setup,omitempty"` // likewise
	Restored bool     `json:"restored"`

	Supervisor string           `json:"supervisor,omitempty"` // the agents that ferrus.toml was given
	Executor   string           `json:"executor,omitempty"`
	Limits     string           `json:"limits,omitempty"`  // in words
	Include    []string         `json:"include,omitempty"` // the files that .worktreeinclude was given
	Found      []cli.FoundAgent `json:"found"`             // the agents that are installed; null when ferrus.toml was there and was given none
	Added      string           `json:"added,omitempty"`   // the lines that name them, at the end of a ferrus.toml that was there

	Rehearsal *engine.Rehearsal `json:"rehearsal,omitempty"`

	rehearse bool // a person agreed to that
	notifies bool // by channels that were not tried yet
	copied   bool // a person agreed to what Include names
	agreed   bool // a person has agreed to the ferrus.toml that was there
	git      bool // there is a repository, in which a rehearsal is possible
	warning  string
}

func initialise(a *cli.App, ctx context.Context, how options) error {
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
	if how.writes() && rootfs.Exists(filepath.Join(root, config.FileName)) {
		return cli.UsageError("edit ferrus.toml, then run ferrus trust", "--check, --executor and --supervisor are for a new ferrus.toml, and there is one in %s", root)
	}
	did, err := setUp(a, ctx, root, how)
	if err == nil && did.Checks == nil && !how.rehearse { // which is of a file that a person has agreed to
		err = addAgents(a, ctx, &did)
	}
	if err != nil {
		return err
	}
	if !a.JSON {
		showSetup(a, did)
	}
	if did.notifies {
		if err := tryChannels(a, ctx, root); err != nil {
			return err
		}
	}
	if did.rehearse {
		a.Dir = root
		if did.Rehearsal, err = rehearse(a, ctx); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(did); err != nil {
			return err
		}
	case did.Rehearsal != nil:
		showRehearsal(a, *did.Rehearsal)
	}
	if r := did.Rehearsal; r != nil && !r.Passed {
		return cli.ExitWith(cli.ExitFailure)
	}
	if !a.JSON && (len(did.Wrote) > 0 || did.Restored) {
		a.ShowSteps(nextOf(did))
	}
	return nil
}

// SetUp makes what is missing, without a rehearsal.
func SetUp(a *cli.App, ctx context.Context, root string) (Setup, error) {
	return setUp(a, ctx, root, options{})
}

func setUp(a *cli.App, ctx context.Context, root string, how options) (Setup, error) {
	did := Setup{Root: root, Wrote: []string{}, rehearse: how.rehearse}
	if err := project.CheckIgnore(ctx, root); err != nil {
		return did, err
	}
	there := project.At(root, "").Initialised()
	record, err := trust.Open(root)
	if err != nil {
		return did, err
	}
	if err := project.Foreign(ctx, project.At(root, ""), record); refusal.CodeOf(err) == refusal.ForeignState {
		return did, err
	}
	if did.Restored, err = project.Revive(project.At(root, ""), record); err != nil {
		return did, err
	}
	project.MarkEmpty(project.At(root, ""), record)
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
	if !rootfs.Exists(filepath.Join(root, config.FileName)) {
		if err := did.write(a, ctx, how); err != nil {
			return did, err
		}
	}
	did.git = worktree.Inside(ctx, root)
	if did.git && !worktree.Ignored(ctx, root, ".ferrus/journal.jsonl") {
		if err := project.Ignore(root); err != nil {
			return did, err
		}
		did.Wrote = append(did.Wrote, ".gitignore")
		if !worktree.Ignored(ctx, root, ".ferrus/journal.jsonl") {
			did.warning = "git still does not ignore .ferrus: check .gitignore"
		}
	}
	if len(did.Checks) > 0 && did.git {
		return did, did.untried()
	}
	return did, nil
}

// untried records that nobody has run what ferrus.toml was given.
func (did *Setup) untried() error {
	conf, err := config.LoadFor(filepath.Join(did.Root, config.FileName))
	if err != nil {
		return err
	}
	return project.At(did.Root, "").Rehearsed(project.Rehearsal{Config: conf.Rehearsed(), Failed: project.NotTried, At: time.Now()})
}

// write writes ferrus.toml, and .worktreeinclude where files are to be copied. One that somebody has made meanwhile stays.
func (did *Setup) write(a *cli.App, ctx context.Context, how options) error {
	p, err := look(a, ctx, did.Root, how)
	if err != nil {
		return err
	}
	did.Found = p.found
	if p, did.rehearse, err = choose(a, p, how); err != nil {
		return err
	}
	text := config.Render(p.Start)
	switch err := create(filepath.Join(did.Root, config.FileName), text); {
	case errors.Is(err, fs.ErrExist):
		did.rehearse = false
		return nil
	case err != nil:
		return err
	}
	did.Wrote, did.Checks, did.SetUp = append(did.Wrote, config.FileName), append([]string{}, p.Checks...), p.Setup
	did.Supervisor, did.Executor, did.Limits = p.HQ.Supervisor.Agent, p.HQ.Executor.Agent, budgetText(p.Limits)
	did.notifies = p.Channels.Desktop || len(p.Channels.URLs) > 0
	did.warning = cli.TrustOwnFile(did.Root, text)
	return did.copies(p)
}

// copies writes .worktreeinclude. What a person has seen is agreed to; else ferrus trust shows it before anything is copied.
func (did *Setup) copies(p proposal) error {
	if len(p.include) == 0 {
		return nil
	}
	text := "# Files that git ignores and that new work trees need. Agents read what is copied.\n"
	for _, name := range p.include {
		text += "/" + git.EscapeGlob(name) + "\n"
	}
	err := create(filepath.Join(did.Root, checkout.IncludeFile), []byte(text))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	did.Wrote, did.Include = append(did.Wrote, checkout.IncludeFile), p.include
	if did.copied = p.asked; !p.asked {
		return nil
	}
	record, err := trust.Open(did.Root)
	if err == nil {
		err = record.AgreeCopies(p.include)
	}
	return cli.TrustError(err)
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
		".gitignore": "one line: /.ferrus/", checkout.IncludeFile: "for new work trees: " + trust.Visible(strings.Join(did.Include, " "))}
	if !did.copied {
		what[checkout.IncludeFile] += "; copied when you have agreed: ferrus trust"
	}
	for _, name := range did.Wrote {
		if name == config.FileName && did.Added != "" {
			a.ShowRow("added", name+", at its end:")
			a.Say("%s\n", format.Indent(did.Added, "              "))
			continue
		}
		a.ShowRow("wrote", strings.TrimRight(fmt.Sprintf("%-14s  %s", name, what[name]), " "))
		if name == config.FileName {
			if did.SetUp != "" {
				a.ShowRow("", fmt.Sprintf("%-14s  set-up: %s", "", trust.Visible(did.SetUp)))
			}
			for _, c := range did.Checks {
				a.ShowRow("", fmt.Sprintf("%-14s  check: %s", "", trust.Visible(c)))
			}
			for _, role := range []struct{ is, agent string }{{"supervisor", did.Supervisor}, {"executor", did.Executor}} {
				if role.agent != "" {
					a.ShowRow("", fmt.Sprintf("%-14s  %s: %s", "", role.is, role.agent))
				}
			}
			a.ShowRow("", fmt.Sprintf("%-14s  limits: %s", "", did.Limits))
		}
	}
	if did.warning != "" {
		a.ShowRow("warning", a.Paint(cli.Yellow, did.warning))
	}
	if did.Checks != nil || did.Added != "" {
		showFound(a, did.Found, did.Supervisor, did.Executor)
	}
}

// nextOf are the steps from a project that is set up to its first task.
func nextOf(did Setup) []status.Step {
	run := status.Step{Command: `ferrus run "what is to be done"`, Why: "starts the agents and waits for the first task"}
	var list []status.Step
	none := did.Found != nil && len(did.Found) == 0
	if none {
		list = []status.Step{{Command: cli.InstallAgent, Why: "installs an agent, which can play both roles"},
			{Command: "ferrus init", Why: "names it in ferrus.toml"}}
	}
	if did.Rehearsal != nil && (none || did.Supervisor != "" && did.Executor != "") {
		return append(list, run)
	}
	switch {
	case did.agreed:
	case did.Checks == nil:
		list = append(list, status.Step{Command: "ferrus trust", Why: "shows what ferrus.toml can run, and asks whether you trust it"})
	default: // ferrus.toml is ours, and what it says was agreed to
		edit := "make sure that these checks define \"done\""
		switch {
		case len(did.Checks) == 0:
			edit = "name the checks: no tests were found, and without checks nothing can be submitted"
		case !none && (did.Supervisor == "" || did.Executor == ""):
			edit = "name the agents, and make sure that these checks define \"done\""
		}
		list = append(list, status.Step{Command: "$EDITOR ferrus.toml", Why: edit},
			status.Step{Command: "ferrus trust", Why: "shows what ferrus.toml can run, and asks about what you have changed"})
	}
	try := status.Step{Command: "ferrus check", Why: "runs the checks once, without a task"}
	if did.git {
		try = status.Step{Command: "ferrus init --rehearse", Why: "runs the set-up and the checks once in a fresh work tree"}
	}
	if did.Rehearsal == nil && !project.At(did.Root, "").Rehearsal().Passed {
		list = append(list, try)
	}
	return append(list, run)
}
