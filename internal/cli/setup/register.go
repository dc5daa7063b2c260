package setup

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus"
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// registerJSON are the fields of a change to a client's files.
const registerJSON = `[{agent role file change text}]. change is written, changed, removed or
unchanged. text is the change (with --print) or a remark. Remarks about no file
have the change "note".`

// RegisterCommand is ferrus register.
func RegisterCommand(a *cli.App) *cobra.Command {
	var flags [2]register.Assignment // of the supervisor and the executor
	var how registering
	cmd := &cobra.Command{
		Use:   "register [--supervisor AGENT] [--executor AGENT] [--hooks]",
		Short: "Configure your agent clients to use ferrus here",
		Long: `Writes the MCP server of a role, and its skill, into the project files of each
client. Then a client that you open here has the tools of ferrus. Without flags
it uses the agents of [hq] in ferrus.toml. Agents that you name are also written
to [hq]. On a terminal it shows the change and asks first. With --hooks your
client reminds a session of the task that it has, and notifies you.`,
		Example: `  ferrus register
  ferrus register --supervisor claude-code --executor codex
  ferrus register --executor claude-code --hooks
  ferrus register --print`,
		Annotations: cli.Reference(`If you name one role, the other stays as it is. Comments and order of
ferrus.toml stay. "ferrus unregister" does not change [hq].

Other content of the files stays as it is, byte for byte. If a file cannot be
parsed, nothing is written. A model is written to a client's project settings
unless one is set there. If both roles have the same client, its files make it
the supervisor; "ferrus open executor" opens it as the executor.

Hooks are written to .claude/settings.local.json, which is your own, and not if
git has that file. ferrus shows them and asks first; without a terminal it needs
--yes. --hooks=false removes them, and "ferrus unregister" too.`, registerJSON),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			how.changed = cmd.Flags().Changed("hooks")
			return runRegister(a, cmd.Context(), flags, how)
		},
	}
	cmd.Flags().StringVar(&flags[0].Agent, "supervisor", "", "`AGENT` that creates and reviews tasks")
	cmd.Flags().StringVar(&flags[1].Agent, "executor", "", "`AGENT` that does the work")
	cmd.Flags().StringVar(&flags[0].Model, "supervisor-model", "", "`MODEL` of the supervisor")
	cmd.Flags().StringVar(&flags[1].Model, "executor-model", "", "`MODEL` of the executor")
	cmd.Flags().BoolVar(&how.hooks, "hooks", false, "also write hooks for the executor's client")
	cmd.Flags().BoolVarP(&how.yes, "yes", "y", false, "write hooks without asking")
	cmd.Flags().BoolVar(&how.show, "print", false, "print the changes, and write nothing")
	cmd.Flags().SortFlags = false
	return cmd
}

// registering is how to register.
type registering struct {
	hooks, changed bool // what the flag says, and whether it was given
	yes, show      bool
}

// Duties are those of the two roles in the order of the flags.
var Duties = [2]agents.Duty{agents.Supervisor, agents.Executor}

func runRegister(a *cli.App, ctx context.Context, flags [2]register.Assignment, how registering) error {
	project, root, err := registry(a, ctx, "register")
	if err != nil {
		return err
	}
	conf, err := config.LoadFor(filepath.Join(root, config.FileName))
	if err != nil {
		return cli.ConfigError(err)
	}
	if flags[0] == (register.Assignment{}) && flags[1] == (register.Assignment{}) {
		for i, agent := range []config.Agent{conf.HQ.Supervisor, conf.HQ.Executor} {
			flags[i] = register.Assignment{Agent: agent.Agent, Model: agent.Model}
		}
	}
	for i, assigned := range flags {
		if assigned.Agent == "" {
			if assigned.Model != "" {
				return cli.UsageError(refusal.Say("add --%s AGENT", string(Duties[i])), "--%s-model needs --%s", Duties[i], Duties[i])
			}
			continue
		}
		if _, err := agents.Find(assigned.Agent); err != nil {
			return cli.UsageError("ferrus agents lists the agents", "%v", err)
		}
	}
	want, err := project.Registered()
	if err != nil {
		return err
	}
	for i, assigned := range flags {
		if assigned.Agent != "" {
			was := want[Duties[i]]
			assigned.Hooks = was.Hooks && was.Agent == assigned.Agent
			want[Duties[i]] = assigned
		}
	}
	if how.changed {
		if err := how.hook(want); err != nil {
			return err
		}
	}
	plan, err := project.Plan(want)
	if err != nil {
		return err
	}
	if err := how.ask(a, plan); err != nil {
		return err
	}
	if err := conductToo(a, plan, conf, flags, how.show); err != nil {
		return err
	}
	return carryOut(a, project, plan, how.show)
}

// hook gives the executor hooks, or takes them.
func (how registering) hook(want map[agents.Duty]register.Assignment) error {
	executor := want[agents.Executor]
	if how.hooks && (!register.MayHook(executor.Agent) || want[agents.Supervisor].Agent == executor.Agent) {
		return cli.Refuse(refusal.InvalidInput, "hooks are for a client that is the executor alone, and ferrus writes them for claude-code",
			"ferrus register --executor claude-code --hooks, with another agent as the supervisor; Codex gets them by the plugin of ferrus")
	}
	if executor.Agent != "" {
		executor.Hooks = how.hooks
		want[agents.Executor] = executor
	}
	return nil
}

// ask asks a person before hooks are written.
func (how registering) ask(a *cli.App, plan *register.Plan) error {
	i := slices.IndexFunc(plan.Changes, func(c register.Change) bool { return c.Hooks })
	if i < 0 || how.show || how.yes {
		return nil
	}
	if !a.MayAsk() {
		return cli.Refuse(refusal.InvalidInput, "hooks are shown before they are written, and there is no terminal",
			"ferrus register --hooks --print shows them; --yes writes them without asking")
	}
	cli.Fprintf(a.Err, "%sWrite this, so that your client runs ferrus at these events? [Y/n] ", plan.Changes[i].Diff())
	if !a.Agrees(true) {
		return cli.Refuse(refusal.InvalidInput, "not agreed; nothing was written", "ferrus register without --hooks writes the rest")
	}
	return nil
}

// conductToo adds to a plan that ferrus run starts the agents of the flags. In a terminal a person is asked.
func conductToo(a *cli.App, plan *register.Plan, conf config.Config, flags [2]register.Assignment, show bool) error {
	was, will := map[agents.Duty]register.Assignment{}, map[agents.Duty]register.Assignment{}
	for i, agent := range []config.Agent{conf.HQ.Supervisor, conf.HQ.Executor} {
		was[Duties[i]] = register.Assignment{Agent: agent.Agent, Model: agent.Model}
		if flags[i].Agent != "" {
			will[Duties[i]] = flags[i]
		}
	}
	if err := plan.Conduct(was, will); err != nil {
		return err
	}
	c := plan.Config()
	if c == nil {
		return nil
	}
	if !show && a.MayAsk() {
		cli.Fprintf(a.Err, "%sWrite this, so that ferrus run starts the same agents? [Y/n] ", c.Diff())
		if !a.Agrees(true) {
			plan.KeepConfig()
			plan.Notes = append(plan.Notes, "ferrus run starts "+conf.HQ.Supervisor.Agent+" as the supervisor and "+conf.HQ.Executor.Agent+
				" as the executor, as ferrus.toml says")
			return nil
		}
	}
	now, err := config.Parse(config.FileName, c.Text())
	if err != nil {
		return cli.ConfigError(err)
	}
	own, err := config.LoadPerson()
	if err != nil {
		return cli.ConfigError(err)
	}
	for i, agent := range []config.Agent{now.With(own).HQ.Supervisor, now.With(own).HQ.Executor} {
		if flags[i].Agent != "" && agent.Agent != flags[i].Agent {
			plan.Notes = append(plan.Notes, "ferrus run starts "+agent.Agent+" as the "+string(Duties[i])+": "+own.Path+" overrides ferrus.toml")
		}
	}
	return nil
}

// registry is what register and unregister work on.
func registry(a *cli.App, ctx context.Context, verb string) (register.Project, string, error) {
	if err := a.RefuseAgent(verb); err != nil {
		return register.Project{}, "", err
	}
	if a.Branch != "" {
		return register.Project{}, "", cli.UsageError("omit --branch", "clients are registered for the project, not for a branch")
	}
	place, err := a.Place(ctx)
	if err != nil {
		return register.Project{}, "", err
	}
	p, err := ProjectOf(place.Root)
	return p, place.Root, err
}

// ProjectOf is a project as the registration sees it.
func ProjectOf(root string) (register.Project, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.Abs(exe)
	}
	if err != nil {
		return register.Project{}, err
	}
	p := register.Project{Root: root, Exe: exe, Record: filepath.Join(root, ".ferrus", "register.json"),
		Skills: map[agents.Duty]string{}}
	for _, role := range Duties {
		text, err := fs.ReadFile(ferrus.Template(), "skills/ferrus-"+string(role)+"/SKILL.md")
		if err != nil {
			return p, err
		}
		p.Skills[role] = string(text)
	}
	return p, nil
}

// A registration is one line of the result, for programs.
type registration struct {
	Agent  string        `json:"agent"`
	Role   agents.Duty   `json:"role"`
	File   string        `json:"file"`
	Change register.Kind `json:"change"`
	Text   string        `json:"text,omitempty"`
}

// carryOut does what was planned, or shows it.
func carryOut(a *cli.App, project register.Project, plan *register.Plan, show bool) error {
	if !show {
		var conf []byte
		if c := plan.Config(); c != nil {
			conf = c.Text()
		}
		if err := cli.KeepTrust(project.Root, plan.Write, conf); err != nil {
			return err
		}
		if !plan.Roles[agents.Executor].Hooks {
			if err := forgetReminders(project.Root); err != nil {
				return err
			}
		}
	}
	notes := plan.Notes
	if len(plan.Roles) > 0 && shortLived(project.Exe) {
		notes = append(notes, project.Exe+" is the program that clients would start, and it is in a temporary folder: install ferrus,"+
			" then register with the installed one")
	}
	if a.JSON {
		list := []registration{}
		for _, c := range plan.Changes {
			text := c.Note
			if show {
				text = cmp.Or(c.Diff(), text)
			}
			list = append(list, registration{c.Agent, c.Role, c.File, c.Kind, text})
		}
		for _, note := range notes {
			list = append(list, registration{Change: "note", Text: note})
		}
		return a.PrintJSON(list)
	}
	showPlan(a, plan, notes, show)
	return nil
}

// shortLived reports whether a program is likely to be gone soon, as that of go run.
func shortLived(exe string) bool {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		temp = os.TempDir()
	}
	return rootfs.Within(temp, exe) || strings.Contains(filepath.ToSlash(exe), "/go-build")
}

func showPlan(a *cli.App, plan *register.Plan, notes []string, show bool) {
	if plan.Idle() {
		a.Say("nothing to change\n")
	}
	width := 0
	for _, c := range plan.Changes {
		width = max(width, len(c.File))
	}
	for _, c := range plan.Changes {
		whose := cmp.Or(c.Agent, "[hq], the agents that ferrus run starts")
		if c.Role != "" {
			whose += ", " + string(c.Role)
		}
		if c.File == "" {
			a.ShowRow("", whose+": "+c.Note)
			continue
		}
		if show {
			a.Say("%s", c.Diff())
			continue
		}
		a.ShowRow(string(c.Kind), c.File+strings.Repeat(" ", width-len(c.File))+"  "+whose)
		if c.Link != "" {
			a.ShowRow("", "through a link it is "+c.Link)
		}
		if c.Note != "" {
			a.ShowRow("", a.Paint(cli.Yellow, c.Note))
		}
	}
	if len(notes) > 0 {
		a.Say("\n")
	}
	for _, note := range notes {
		a.ShowRow("note", note)
	}
	if !show && len(plan.Roles) > 0 {
		a.ShowSteps(opened(a, plan))
	}
}

// opened are the commands with which a person begins.
func opened(a *cli.App, plan *register.Plan) []status.Step {
	var list []status.Step
	where := "here"
	taken := ""
	for _, role := range Duties {
		assigned, ok := plan.Roles[role]
		if !ok {
			list = append(list, status.Step{Command: "ferrus register --" + string(role) + " AGENT", Why: "if it should have a client too"})
			continue
		}
		adapter, err := agents.Find(assigned.Agent)
		how := adapter.Program
		if err != nil || taken == assigned.Agent || !register.Files(assigned.Agent) {
			how = "ferrus open " + string(role)
		}
		say := "tell it to wait for tasks"
		if role == agents.Supervisor {
			say = "tell it what to do"
		}
		list = append(list, status.Step{Command: how, Why: where + ": it is the " + string(role) + "; " + say})
		taken, where = assigned.Agent, "in another terminal"
	}
	return list
}
