package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// SuggestChecks says how checks are named.
func SuggestChecks(root string) string {
	commands := config.Propose(root).Commands()
	if commands == nil {
		commands = []string{"make test"}
	}
	return "name the checks in ferrus.toml (commands = [] accepts everything):\n" + config.Lines("checks.commands", commands)
}

// CheckStartable refuses an agent that cannot be started, or cannot work. named says where it is named; table is its table of
// ferrus.toml, "" where it is named elsewhere.
func CheckStartable(ctx context.Context, root string, who config.Agent, named, table string) error {
	if err := checkInstalled(ctx, root, who, named, table); err != nil {
		return err
	}
	adapter, err := agents.Find(who.Agent)
	// With arguments of its own it may have another way in.
	if err == nil && len(who.Args) == 0 && adapter.LoggedOut(ctx, Programs(root)) {
		return Refuse(refusal.StoreError, adapter.Name+" is not logged in, and "+names(root, named, table, "it", adapter.Name),
			refusal.Say("%s", nameAgent(ctx, root, table, who.Agent, "log in: "+adapter.LogIn)))
	}
	return nil
}

// checkInstalled refuses an agent that cannot be started.
func checkInstalled(ctx context.Context, root string, who config.Agent, named, table string) error {
	adapter, err := agents.Find(who.Agent)
	if err != nil {
		return Refuse(refusal.InvalidInput, named+": "+err.Error(), "name one of them; ferrus agents shows them")
	}
	if adapter.Program == "" {
		if err := CheckCommand(who, named); err != nil {
			return Refuse(refusal.InvalidInput, err.Error(), refusal.Say("%s", nameAgent(ctx, root, table, who.Agent, "name the command")))
		}
		if missing := proc.Missing(who.Command, root, os.Getenv("PATH")); missing != "" {
			return Refuse(refusal.StoreError, fmt.Sprintf("%s is \"command\", and the program %s of the command does not exist", named, missing),
				refusal.Say("%s", nameAgent(ctx, root, table, who.Agent, "correct the command")))
		}
		return nil
	}
	if _, err := adapter.Path(Programs(root)); err != nil {
		conf, err := config.LoadFor(filepath.Join(root, config.FileName))
		if table != "" && err == nil && !NamesAgents(conf) && len(findPrograms(Programs(root))) == 0 {
			return Refuse(refusal.StoreError, "no agent is installed, and ferrus.toml names none",
				refusal.Say("%s installs one, which can play both roles; ferrus init then names it in ferrus.toml", InstallAgent))
		}
		return Refuse(refusal.StoreError, adapter.Program+" is not on PATH, and "+names(root, named, table, adapter.Name, adapter.Name),
			refusal.Say("%s", nameAgent(ctx, root, table, who.Agent, "install it: "+adapter.Install)))
	}
	return nil
}

// names says which file names an agent, or that none does, so that it is the usual one. The agent is called as it says.
func names(root, named, table, as, agent string) string {
	conf, err := config.LoadFor(filepath.Join(root, config.FileName))
	role, ok := strings.CutPrefix(table, "hq.")
	if key := table + ".agent"; ok && err == nil && conf.At(key) == key {
		return "ferrus.toml names no " + role + ", so that it is the usual one, " + agent
	}
	return named + " names " + as
}

// CheckCommand refuses the agent "command" without a command.
func CheckCommand(who config.Agent, named string) error {
	if who.Agent == "command" && strings.TrimSpace(who.Command) == "" {
		return errors.New(named + ` is "command", and the command is empty`)
	}
	return nil
}

// nameAgent is a remedy: what to do about an agent, or the lines of ferrus.toml that name another one.
func nameAgent(ctx context.Context, root, table, agent, first string) string {
	if table == "" {
		return first + "; or name another agent; ferrus agents shows what is installed"
	}
	if agent == "command" {
		return first + ` in ferrus.toml:` + "\n" + config.Lines(table+".command", "my-agent {server}") + "\nor name another agent; ferrus agents shows what is installed"
	}
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	found := FindAgents(ctx, root)
	if len(found) == 0 {
		return first + "; no agent is installed here, and one can play both roles, if ferrus.toml names it for both:\n" + bothRoles(agent) +
			"\nferrus agents shows every agent"
	}
	could := ChooseAgents(found)
	other := could.Supervisor.Agent
	if table == "hq.executor" {
		other = could.Executor.Agent
	}
	if other == "" || other == agent {
		return first + "; or name another agent in ferrus.toml (ferrus agents lists them):\n" + config.Lines(table+".agent", "command") +
			"\ncommand = \"my-agent {server}\""
	}
	return first + "; or let " + other + " do it in ferrus.toml:\n" + config.Lines(table+".agent", other)
}

// suggestTime is how long installed clients may take before another agent is suggested.
const suggestTime = 10 * time.Second

// ConfigWarnings are what in a configuration cannot do what it says, though a program that is not there now may come: a line each.
func ConfigWarnings(conf config.Config, root string) (list []string) {
	for _, c := range conf.Checks.Commands {
		list = append(list, missing(conf, root, "checks.commands", c)...)
	}
	list = append(list, missing(conf, root, "notify.command", conf.Notify.Command)...)
	list = append(list, missing(conf, root, "branches.setup", conf.Branches.Setup)...)
	list = append(list, missing(conf, root, "branches.score", conf.Branches.Score)...)
	for _, item := range conf.Channels.URLs {
		if name := config.Variable(item); name != "" && os.Getenv(name) == "" {
			list = append(list, conf.At("notify.urls")+": the variable "+name+" is not set in this shell")
		}
	}
	if conf.Deliver.To == config.ToCommand {
		list = append(list, missing(conf, root, "deliver.command", conf.Deliver.Command)...)
	}
	return list
}

// missing is the doubt about a command whose program is not there, if it is not.
func missing(conf config.Config, root, key, command string) []string {
	path := os.Getenv("PATH")
	if own, ok := conf.Checks.Env["PATH"]; ok && key == "checks.commands" {
		path = own
	}
	if missing := proc.Missing(command, root, path); missing != "" {
		return []string{conf.At(key) + ": " + missing + " does not exist"}
	}
	return nil
}

// A ConfiguredAgent is an agent of ferrus.toml, with the name of its table.
type ConfiguredAgent struct {
	Table string
	Who   config.Agent
}

// ConfiguredAgents are the agents of [hq].
func ConfiguredAgents(conf config.Config) []ConfiguredAgent {
	return []ConfiguredAgent{{"hq.supervisor", conf.HQ.Supervisor}, {"hq.executor", conf.HQ.Executor}}
}

// AgentWarnings are those about the agents of [hq] and of [[rules]].
func AgentWarnings(conf config.Config, root string) (list []string) {
	for _, role := range ConfiguredAgents(conf) {
		command := role.Table + ".command"
		adapter, err := agents.Find(role.Who.Agent)
		switch {
		case err != nil: // what reads the file says so
		case adapter.Program == "":
			list = append(list, missing(conf, root, command, role.Who.Command)...)
		default:
			if role.Who.Command != "" {
				list = append(list, conf.At(command)+` is not used: the agent is `+adapter.Name+`, not "command"`)
			}
			if _, err := adapter.Path(Programs(root)); err != nil {
				list = append(list, conf.At(role.Table+".agent")+": "+adapter.Program+" is not on PATH")
			}
		}
	}
	ruled, at := conf.RuleAgents()
	for i, who := range ruled {
		if adapter, err := agents.Find(who.Agent); err == nil && adapter.Program != "" {
			if _, err := adapter.Path(Programs(root)); err != nil {
				list = append(list, at[i]+": "+adapter.Program+" is not on PATH")
			}
		}
	}
	return list
}

// OfferConfig says where ferrus.toml differs from what is frozen with the task, and offers to accept it if it may ask.
func (a *App) OfferConfig(ctx context.Context, s *engine.Session, frozen, now config.Gate, ask bool) error {
	differs := frozen.Diff(now)
	if len(differs) == 0 {
		return nil
	}
	Fprintf(a.Err, "ferrus.toml differs from what was frozen when the task was created:\n")
	for _, c := range differs {
		Fprintf(a.Err, "  %s\n    frozen  %s\n    now     %s\n", trust.Visible(c.Key), trust.Visible(c.Pinned), trust.Visible(c.Now))
	}
	accept := refusal.OnBranch(s.Engine().Place().Branch, "ferrus config accept{branch}")
	if !ask {
		Fprintf(a.Err, "the frozen values hold; to use the new ones: %s\n", accept)
		return nil
	}
	Fprintf(a.Err, "Use the new values for this task? [y/N] ")
	if !a.Agrees(false) {
		Fprintf(a.Err, "the frozen values hold; %s asks for no answer\n", accept)
		return nil
	}
	if _, _, err := s.AcceptConfig(ctx); err != nil {
		return CannotDo("accept the configuration", "", err)
	}
	return nil
}

// CheckContinuable refuses to go on with a task whose agents could not do their work: those that are not there, and those that
// failed the last time, where ferrus.toml names others by now. conf is what ferrus.toml says; asked says that a person was
// asked to choose.
func CheckContinuable(ctx context.Context, e *engine.Engine, conf config.Config, asked bool) error {
	snap, err := e.View()
	if err != nil {
		return err
	}
	now := engine.GateFor(snap.Task, conf)
	frozen, err := e.Gate(snap)
	if err != nil {
		return err
	}
	if err := CheckReady(ctx, e, frozen, false); err != nil {
		return thenAccept(ctx, e, err, now)
	}
	differs := frozen.Diff(now)
	if asked || len(differs) == 0 || !snap.Task.Underway() || snap.Task.State == state.AwaitingHuman {
		return nil
	}
	runs, err := process.Runs(conductor.Runs(e, snap.Task.TaskID))
	if err != nil {
		return err
	}
	last := map[state.Role]process.Run{}
	for _, r := range runs {
		last[r.Duty.Role()] = r
	}
	for _, c := range differs {
		_, key, _ := strings.Cut(c.Key, "hq.")
		role, _, _ := strings.Cut(key, ".")
		if r, ran := last[state.Role(role)]; ran && conductor.Failed(r) {
			return Refuse(refusal.ConfigChanged, fmt.Sprintf("the last %s failed%s, and ferrus.toml differs from what was frozen with the task: %s was %s, now %s",
				role, DescribeEnd(r), c.Key, trust.Visible(c.Pinned), trust.Visible(c.Now)),
				refusal.Say("%s takes the new values; or put the old ones back into ferrus.toml", refusal.OnBranch(e.Place().Branch, "ferrus config accept{branch}")))
		}
	}
	return nil
}

// Programs is the environment in which programs of the person are looked for: with a PATH that has no folder of the
// project that dir belongs to.
func Programs(dir string) []string { return proc.Outside(os.Environ(), proc.WorkTree(dir)) }
