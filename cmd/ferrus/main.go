// Command ferrus is the person's command line: what a person sees of a task, and what only a person may do to it. The
// server that agents talk to is `ferrus serve`.
//
// Every verb is an act of the engine like any other; this room finds the machine, puts words around what comes back,
// and turns it into an exit code. One file is one command.
package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/proc"
	"github.com/ferrus-go/ferrus/internal/slot"
)

func main() {
	checks.Helper()
	slot.Shim(run.Hold)
	ctx, stop := proc.Interruptible(context.Background(), os.Interrupt, syscall.SIGTERM, proc.Stop)
	code := newApp(os.Stdin, os.Stdout, os.Stderr).run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// commands are all of them, in the order of the help.
var commands = []func(*app) *cobra.Command{
	initCommand, runCommand, resumeCommand, stopCommand, statusCommand, taskCommand, queueCommand, answerCommand, sendCommand, approveCommand, rejectCommand, checkCommand, releaseCommand,
	resetCommand, reopenCommand, rollbackCommand, logCommand, logsCommand, showCommand, contextCommand, simulateCommand,
	branchCommand, branchesCommand, selectCommand, mergeCommand,
	diffCommand, evidenceCommand, gcCommand, pipelineCommand, tickCommand, waitFileCommand, agentsCommand, doctorCommand, configCommand, trustCommand, serveCommand,
	func(*app) *cobra.Command { return demoCommand() },
	registerCommand, unregisterCommand, openCommand,
	tokenCommand, versionCommand,
}

const about = `ferrus turns coding agents into supervised workers: a supervisor gives a task and reviews it, an executor works,
checks and submits, and you answer what only you can decide. Everything it knows is a file in .ferrus.

Begin with ferrus init; then ferrus status says where you are and what comes next.`

const afterwards = `Exit codes: 0 ok, 1 failure, 2 usage, 3 wrong state or nothing to do, 4 forbidden, 5 time-out, 6 waiting for a
person, 7 lock busy, 8 corrupt, 9 ended by ferrus stop, 130 ended by ctrl-C, 143 ended by SIGTERM.`

// tree is the whole command tree.
func (a *app) tree() *cobra.Command {
	root := &cobra.Command{
		Use:           "ferrus",
		Short:         "Supervise coding agents",
		Long:          about + "\n\n" + afterwards,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// What fails before this is an error of usage.
		PersistentPreRun: func(*cobra.Command, []string) { a.parsed = true },
	}
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "root", "C", "", "`DIR` of the project, or below it (FERRUS_ROOT; else the working directory)")
	flags.StringVar(&a.branch, "branch", "", "`NAME` of the branch; default: that of the work tree, else none")
	flags.BoolVar(&a.json, "json", false, "print JSON: the result on stdout, an error on stderr")
	flags.SortFlags = false
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
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
	return noCommand(root, args[0])
}

// noCommand refuses a word that is no command below parent.
func noCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	remedy := parent.CommandPath() + " --help lists the commands"
	if near := config.Nearest(word, names); near != "" {
		remedy = "did you mean " + near + "? " + remedy
	}
	return usage(remedy, "there is no command %q", strings.TrimPrefix(parent.CommandPath()+" "+word, "ferrus "))
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
					return noCommand(at, word)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// run runs one command line and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.tree()
	root.SetArgs(unslashed(root, args))
	a.in = interruptible{ctx, a.in}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if sig := proc.Signalled(ctx); sig != nil {
		return a.fail(a.interrupted(sig, err))
	}
	if !a.parsed {
		a.json = a.json || slices.Contains(args, "--json")
		err = misused(cmd, err)
	}
	return a.fail(err)
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
