package setup

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// OpenCommand is ferrus open.
func OpenCommand(a *cli.App) *cobra.Command {
	var flags register.Assignment
	login := false
	cmd := &cobra.Command{
		Use:   "open ROLE [--agent AGENT] [--model MODEL] [-- ARGS...]",
		Short: "Open an agent in this terminal, in a role",
		Long: `Starts one of your agents in this terminal with the tools of ROLE: supervisor or
executor. Nothing is written into its configuration. By default it is the agent
that is registered for the role, or that of ferrus.toml. Arguments after -- are
passed to it. With --login it logs in for executors in a sandbox: that login is
in .ferrus/logins, and yours is neither used nor copied.`,
		Example: `  ferrus open supervisor
  ferrus open executor --agent codex
  ferrus open executor --login`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains(Duties[:], agents.Duty(args[0])) {
				return cli.UsageError("ferrus open{branch} supervisor, or ferrus open{branch} executor", "no role is named")
			}
			return nil
		},
		ValidArgs: []string{string(agents.Supervisor), string(agents.Executor)},
		RunE: func(cmd *cobra.Command, args []string) error {
			if role := agents.Duty(args[0]); role != agents.Executor && login {
				return cli.UsageError("ferrus open{branch} executor --login", "only executors run in a sandbox")
			}
			return openAgent(a, cmd.Context(), agents.Duty(args[0]), flags, login, args[1:])
		},
	}
	cmd.Flags().StringVar(&flags.Agent, "agent", "", "open this `AGENT`; \"ferrus agents\" lists them")
	cmd.Flags().StringVar(&flags.Model, "model", "", "use this `MODEL`")
	cmd.Flags().BoolVar(&login, "login", false, "log in for executors in a sandbox")
	cmd.Flags().SortFlags = false
	return cmd
}

// orders are the first prompt of an opened agent, the same as the prompts that the server offers.
var orders = map[agents.Duty]string{
	agents.Supervisor: "You are the supervisor of the ferrus task. Call status; after every answer call the tool that next names, until it " +
		"says stop. If there is no task, ask me what should be done and give it with create_task.",
	agents.Executor: "You are the executor of the ferrus task. Call wait_for_task and do the work it gives you; after every answer call the " +
		"tool that next names, until it says stop.",
}

func openAgent(a *cli.App, ctx context.Context, role agents.Duty, flags register.Assignment, login bool, args []string) error {
	if err := a.RefuseAgent("open"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	conf, err := config.LoadFor(filepath.Join(place.Root, config.FileName))
	if err != nil {
		return cli.ConfigError(err)
	}
	if err := a.TrustToStart(place, conf, agreement.Executable(place.Root, conf)); err != nil {
		return err
	}
	configured := conf.HQ.Supervisor
	if role == agents.Executor {
		configured = conf.HQ.Executor
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	assigned := register.Assignment{Agent: configured.Agent, Model: configured.Model}
	registered := register.Project{Root: place.Root, Exe: exe, Record: filepath.Join(place.Root, ".ferrus", "register.json")}
	// A file that cannot be read is no reason not to open an agent, which does without it.
	if found, err := registered.Registered(); err == nil && found[role].Agent != "" {
		assigned = found[role]
	}
	if flags.Agent != "" && flags.Agent != assigned.Agent {
		assigned = register.Assignment{Agent: flags.Agent}
	}
	if assigned.Model == "" && assigned.Agent == configured.Agent {
		assigned.Model = configured.Model
	}
	if flags.Model != "" {
		assigned.Model = flags.Model
	}
	adapter, err := agents.Find(assigned.Agent)
	if err != nil {
		return cli.UsageError("name another one with --agent", "%v", err)
	}
	if login {
		return logIn(ctx, a, conf.Gate(), place, adapter, args)
	}
	if assigned.Agent == configured.Agent {
		args = slices.Concat(configured.Args, args)
	}
	launch, err := adapter.Launch(agents.LaunchSpec{
		Duty: role, Index: 1, Model: assigned.Model, Args: args, Command: configured.Command, Prompt: orders[role], Ferrus: exe,
		Root: place.Root, Branch: place.Branch, Work: place.Work, Environ: os.Environ(),
		// Not where the conductor has its own: that would take the files from under each other.
		Scratch: filepath.Join(place.Dir(), "live", "open-"+adapter.Name),
	})
	if err != nil {
		return &cli.Failure{Code: "failure", Message: err.Error(), Exit: cli.ExitFailure}
	}
	launch.Env = append(launch.Env, project.PortEnv(place.Work)...)
	program := launch.Argv[0]
	if adapter.Program != "" && program == adapter.Program {
		if program, err = adapter.Path(launch.Env); err != nil {
			what, how, _ := strings.Cut(err.Error(), ": ")
			return &cli.Failure{Code: "failure", Message: what, Remedy: refusal.Say("%s", how), Exit: cli.ExitFailure}
		}
	}
	if err := WriteFiles(launch.Files); err != nil {
		return err
	}
	return become(program, launch)
}

// WriteFiles writes the files of a launch, which are below .ferrus, for the user alone.
func WriteFiles(files map[string]string) error {
	for file, text := range files {
		root, name, err := rootfs.For(file)
		if err != nil {
			return err
		}
		err = root.MkdirAll(path.Dir(name), 0o700)
		if err == nil {
			err = root.WriteFile(name, []byte(text), 0o600)
		}
		root.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
