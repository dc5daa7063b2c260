// Package root is the whole command line: the tree of commands, its help, and Main.
package root

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/branch"
	"github.com/ferrus-go/ferrus/internal/cli/demo"
	"github.com/ferrus-go/ferrus/internal/cli/doctor"
	"github.com/ferrus-go/ferrus/internal/cli/evidence"
	"github.com/ferrus-go/ferrus/internal/cli/log"
	pipelinecmd "github.com/ferrus-go/ferrus/internal/cli/pipeline"
	runcmd "github.com/ferrus-go/ferrus/internal/cli/run"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/cli/simulate"
	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/cli/task"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// Main runs the command line of the process and exits with its code.
func Main() {
	checks.Helper()
	process.Shim(run.Hold)
	ctx, stop := proc.Interruptible(context.Background(), os.Interrupt, syscall.SIGTERM, proc.Stop)
	code := Run(cli.NewApp(os.Stdin, os.Stdout, os.Stderr), ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// commands are all of them, in the order of the help.
var commands = []func(*cli.App) *cobra.Command{
	setupcmd.InitCommand, runcmd.RunCommand, runcmd.ResumeCommand, runcmd.StopCommand, status.Command, task.TaskCommand, task.QueueCommand, task.AnswerCommand, task.SendCommand, task.ApproveCommand, task.RejectCommand, task.CheckCommand, task.ReleaseCommand,
	task.ResetCommand, task.ReopenCommand, task.RollbackCommand, log.LogCommand, log.LogsCommand, log.ShowCommand, task.ContextCommand, simulate.Command,
	branch.BranchCommand, branch.BranchesCommand, branch.SelectCommand, branch.MergeCommand,
	task.DiffCommand, evidence.Command, branch.GcCommand, pipelinecmd.Command, runcmd.TickCommand, runcmd.WaitFileCommand, setupcmd.AgentsCommand, doctor.Command, setupcmd.ConfigCommand, setupcmd.TrustCommand, setupcmd.ServeCommand,
	func(*cli.App) *cobra.Command { return demo.Command() },
	setupcmd.RegisterCommand, setupcmd.UnregisterCommand, setupcmd.OpenCommand,
	setupcmd.TokenCommand, setupcmd.VersionCommand,
}

const about = `ferrus turns coding agents into supervised workers: a supervisor gives a task and reviews it, an executor works,
checks and submits, and you answer what only you can decide. Everything it knows is a file in .ferrus.

Begin with ferrus init; then ferrus status says where you are and what comes next.`

const afterwards = `Exit codes: 0 ok, 1 failure, 2 usage, 3 wrong state or nothing to do, 4 forbidden, 5 time-out, 6 waiting for a
person, 7 lock busy, 8 corrupt, 9 ended by ferrus stop, 130 ended by ctrl-C, 143 ended by SIGTERM.`

// Tree is the whole command tree.
func Tree(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "ferrus",
		Short:         "Supervise coding agents",
		Long:          about + "\n\n" + afterwards,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// What fails before this is an error of usage.
		PersistentPreRun: func(*cobra.Command, []string) { a.Parsed = true },
	}
	root.Version = setupcmd.VersionText()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Dir, "root", "C", "", "`DIR` of the project, or below it (FERRUS_ROOT; else the working directory)")
	flags.StringVar(&a.Branch, "branch", "", "`NAME` of the branch; default: that of the work tree, else none")
	flags.BoolVar(&a.JSON, "json", false, "print JSON: the result on stdout, an error on stderr")
	flags.SortFlags = false
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cobra.EnableCommandSorting = false
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	return root
}

// known refuses a word that is no command, and says which one may be meant.
func known(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.NoCommand(root, args[0])
}

// helpCommand shows the help of a command. Unlike cobra's own it refuses a word that is none.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, words []string) error {
			at := root
			for _, word := range words {
				var next *cobra.Command
				for _, c := range at.Commands() {
					if c.Name() == word || c.HasAlias(word) {
						next = c
					}
				}
				if next == nil {
					return cli.NoCommand(at, word)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// Run runs one command line and returns its exit code.
func Run(a *cli.App, ctx context.Context, args []string) int {
	root := Tree(a)
	root.SetArgs(unslashed(root, args))
	a.In = cli.Interruptible{Ctx: ctx, From: a.In}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return cli.ExitOK
	}
	if sig := proc.Signalled(ctx); sig != nil {
		return a.Fail(a.InterruptedError(sig, err))
	}
	if !a.Parsed {
		a.JSON = a.JSON || slices.Contains(args, "--json")
		err = cli.CobraError(cmd, err)
	}
	return a.Fail(err)
}

// unslashed takes the slash away that a command has in the clients of agents: /pipeline is pipeline.
func unslashed(root *cobra.Command, args []string) []string {
	if len(args) == 0 || !strings.HasPrefix(args[0], "/") {
		return args
	}
	name := args[0][1:]
	if !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
		return args
	}
	return append([]string{name}, args[1:]...)
}
