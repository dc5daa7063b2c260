package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus"
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/register"
)

const registerJSON = `

With --json: [{agent role file change text}], change being written, changed, removed or unchanged; text is what changes
(with --print) or a remark. Remarks on no file in particular have the change "note".`

func registerCommand(a *app) *cobra.Command {
	var flags [2]register.Seat // of the supervisor and the executor
	var show bool
	cmd := &cobra.Command{
		Use:   "register [--supervisor AGENT] [--executor AGENT]",
		Short: "Let your clients find ferrus when you open them here",
		Long: `Writes into each client's own project files how to start the server of its role, and the role's skill where the client
reads skills: then a client that you simply open here has the tools of ferrus, without ferrus run. Without flags the
agents are those of ferrus.toml, [hq.supervisor] and [hq.executor]; with one role alone the other stays as it is.

Agents that are named by flags are also written to [hq] of ferrus.toml, so that ferrus run starts the same ones; comments
and order of the file stay. In a terminal the change is shown and you are asked first. unregister leaves [hq] as it is.

What else is in the files stays as it is, byte for byte; a file that cannot be understood is refused, and then nothing
is written. A model goes into a client's project settings, unless one is set there. Where both roles have the same
client, its files make it the supervisor: ferrus open executor opens it as the other.` + registerJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.register(cmd.Context(), flags, show)
		},
	}
	cmd.Flags().StringVar(&flags[0].Agent, "supervisor", "", "the `AGENT` that gives and reviews the task")
	cmd.Flags().StringVar(&flags[1].Agent, "executor", "", "the `AGENT` that does the work")
	cmd.Flags().StringVar(&flags[0].Model, "supervisor-model", "", "`MODEL` of the supervisor")
	cmd.Flags().StringVar(&flags[1].Model, "executor-model", "", "`MODEL` of the executor")
	cmd.Flags().BoolVar(&show, "print", false, "show what would be written, and write nothing")
	cmd.Flags().SortFlags = false
	return cmd
}

// seats are the two roles in the order of the flags.
var seats = [2]agents.Duty{agents.Supervisor, agents.Executor}

func (a *app) register(ctx context.Context, flags [2]register.Seat, show bool) error {
	project, root, err := a.registry(ctx, "register")
	if err != nil {
		return err
	}
	conf, err := config.LoadFor(filepath.Join(root, config.FileName))
	if err != nil {
		return broken(err)
	}
	if flags[0] == (register.Seat{}) && flags[1] == (register.Seat{}) {
		for i, agent := range []config.Agent{conf.HQ.Supervisor, conf.HQ.Executor} {
			flags[i] = register.Seat{Agent: agent.Agent, Model: agent.Model}
		}
	}
	for i, seat := range flags {
		if seat.Agent == "" {
			if seat.Model != "" {
				return usage("add --"+string(seats[i])+" AGENT", "--%s-model needs --%s", seats[i], seats[i])
			}
			continue
		}
		if _, err := agents.Find(seat.Agent); err != nil {
			return usage("ferrus agents says more about each", "%v", err)
		}
	}
	want, err := project.Registered()
	if err != nil {
		return unregistered(err)
	}
	for i, seat := range flags {
		if seat.Agent != "" {
			want[seats[i]] = seat
		}
	}
	plan, err := project.Plan(want)
	if err != nil {
		return unregistered(err)
	}
	if err := a.conductToo(plan, conf, flags, show); err != nil {
		return err
	}
	return a.carryOut(project, plan, show)
}

// conductToo adds to a plan that ferrus run starts the agents of the flags. In a terminal a person is asked.
func (a *app) conductToo(plan *register.Plan, conf config.Config, flags [2]register.Seat, show bool) error {
	was, will := map[agents.Duty]register.Seat{}, map[agents.Duty]register.Seat{}
	for i, agent := range []config.Agent{conf.HQ.Supervisor, conf.HQ.Executor} {
		was[seats[i]] = register.Seat{Agent: agent.Agent, Model: agent.Model}
		if flags[i].Agent != "" {
			will[seats[i]] = flags[i]
		}
	}
	if err := plan.Conduct(was, will); err != nil {
		return unregistered(err)
	}
	c := plan.Config()
	if c == nil {
		return nil
	}
	if !show && a.mayAsk() {
		say(a.err, "%sWrite this, so that ferrus run starts the same agents? [Y/n] ", c.Diff())
		if answer := strings.ToLower(a.word()); answer != "" && answer != "y" && answer != "yes" {
			plan.KeepConfig()
			plan.Notes = append(plan.Notes, "ferrus run starts "+conf.HQ.Supervisor.Agent+" as the supervisor and "+conf.HQ.Executor.Agent+
				" as the executor, as ferrus.toml says")
			return nil
		}
	}
	now, err := config.Parse(config.FileName, c.Text())
	if err != nil {
		return broken(err)
	}
	own, err := config.LoadPerson()
	if err != nil {
		return broken(err)
	}
	for i, agent := range []config.Agent{now.With(own).HQ.Supervisor, now.With(own).HQ.Executor} {
		if flags[i].Agent != "" && agent.Agent != flags[i].Agent {
			plan.Notes = append(plan.Notes, "ferrus run starts "+agent.Agent+" as the "+string(seats[i])+": "+own.Path+" goes before ferrus.toml")
		}
	}
	return nil
}

// registry is what register and unregister work on.
func (a *app) registry(ctx context.Context, verb string) (register.Project, string, error) {
	if err := a.refuseAgent(verb); err != nil {
		return register.Project{}, "", err
	}
	if a.branch != "" {
		return register.Project{}, "", usage("leave --branch out", "the files of clients are those of the project, not of a branch")
	}
	place, err := a.place(ctx)
	if err != nil {
		return register.Project{}, "", err
	}
	p, err := projectOf(place.Root)
	return p, place.Root, err
}

// projectOf is a project as the registration sees it.
func projectOf(root string) (register.Project, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.Abs(exe)
	}
	if err != nil {
		return register.Project{}, err
	}
	p := register.Project{Root: root, Exe: exe, Record: filepath.Join(root, ".ferrus", "register.json"),
		Skills: map[agents.Duty]string{}}
	for _, role := range seats {
		text, err := fs.ReadFile(ferrus.Template(), "skills/ferrus-"+string(role)+"/SKILL.md")
		if err != nil {
			return p, err
		}
		p.Skills[role] = string(text)
	}
	return p, nil
}

// unregistered puts a fault of a client's file into the words of a refusal.
func unregistered(err error) error {
	var fault *register.Fault
	if errors.As(err, &fault) {
		return refuse(engine.InvalidInput, fault.Error(), fault.Remedy)
	}
	return err
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
func (a *app) carryOut(project register.Project, plan *register.Plan, show bool) error {
	if !show {
		var conf []byte
		if c := plan.Config(); c != nil {
			conf = c.Text()
		}
		if err := agreedAcross(project.Root, plan.Write, conf); err != nil {
			return unregistered(err)
		}
	}
	notes := plan.Notes
	if len(plan.Roles) > 0 && shortLived(project.Exe) {
		notes = append(notes, project.Exe+" is what the clients will start, and it lies in a temporary folder: install ferrus,"+
			" then register with that one")
	}
	if a.json {
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
		return a.print(list)
	}
	a.showPlan(plan, notes, show)
	return nil
}

// shortLived reports whether a program is likely to be gone soon, as that of go run.
func shortLived(exe string) bool {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		temp = os.TempDir()
	}
	rel, err := filepath.Rel(temp, exe)
	return err == nil && filepath.IsLocal(rel) || strings.Contains(filepath.ToSlash(exe), "/go-build")
}

func (a *app) showPlan(plan *register.Plan, notes []string, show bool) {
	if plan.Idle() {
		a.say("nothing to change\n")
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
			a.row("", whose+": "+c.Note)
			continue
		}
		if show {
			a.say("%s", c.Diff())
			continue
		}
		a.row(string(c.Kind), c.File+strings.Repeat(" ", width-len(c.File))+"  "+whose)
		if c.Link != "" {
			a.row("", "by a link it is "+c.Link)
		}
		if c.Note != "" {
			a.row("", a.paint(yellow, c.Note))
		}
	}
	if len(notes) > 0 {
		a.say("\n")
	}
	for _, note := range notes {
		a.row("note", note)
	}
	if !show && len(plan.Roles) > 0 {
		a.next(a.opened(plan))
	}
}

// opened are the commands with which a person begins.
func (a *app) opened(plan *register.Plan) []step {
	var list []step
	where := "here"
	taken := ""
	for _, role := range seats {
		seat, ok := plan.Roles[role]
		if !ok {
			list = append(list, step{"ferrus register --" + string(role) + " AGENT", "when it should have a client too"})
			continue
		}
		adapter, err := agents.Find(seat.Agent)
		how := adapter.Program
		if err != nil || taken == seat.Agent || !register.Files(seat.Agent) {
			how = "ferrus open " + string(role)
		}
		say := "tell it to wait for tasks"
		if role == agents.Supervisor {
			say = "tell it what should be done"
		}
		list = append(list, step{how, where + ": it is the " + string(role) + "; " + say})
		taken, where = seat.Agent, "in another terminal"
	}
	return list
}
