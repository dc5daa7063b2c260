// Package root is the whole command line: the tree of commands, its help, and Main.
package root

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/cli/ui"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox/attack"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/server"
)

// Main runs the command line of the process and exits with its code. In packages ferrusd is a link to ferrus: under that name
// it is the server.
func Main() {
	if name := strings.ToLower(filepath.Base(os.Args[0])); name == "ferrusd" || name == "ferrusd.exe" {
		os.Exit(server.Main("ferrusd", os.Args[1:], cli.Metrics))
	}
	sandbox.Stage()
	attack.Main()
	checks.Helper()
	process.Shim(run.Hold)
	ctx, stop := proc.Interruptible(context.Background(), os.Interrupt, syscall.SIGTERM, proc.Stop)
	code := Run(cli.NewApp(os.Stdin, os.Stdout, os.Stderr), ctx, os.Args[1:])
	notify.Finish(ctx)
	stop()
	os.Exit(code)
}

const about = `ferrus runs coding agents in supervised roles. A supervisor gives a task and
reviews it. An executor works, runs the checks and submits. You answer what only
you can decide. ferrus keeps everything that it knows in files in .ferrus.

Start with "ferrus init". Then "ferrus status" shows what you can do next.`

// usage is the template of the help below the description: flags, then examples. Lines have at most helpColumns columns.
const usage = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .Runnable}}{{if .HasParent}}
  {{.UseLine}}{{end}}{{end}}{{if .HasAvailableSubCommands}}{{$commands := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $commands}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{if not .Groups}}

Commands:{{range $commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasHelpSubCommands}}

Topics (ferrus help TOPIC):{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all commands:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" shows the help of a command.{{end}}
`

// unsorted leaves the commands of the help in our order. The switch is one of the whole process, in which a page may run several
// commands at a time.
var unsorted = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// Tree is the whole command tree.
func Tree(a *cli.App) *cobra.Command {
	return tree(a, func(string) bool { return true })
}

// treeFor is the tree with the commands that args name, or the whole one where these are not enough: most of the time that a
// command takes to start went into making the others.
func treeFor(a *cli.App, args []string) *cobra.Command {
	root := tree(a, func(name string) bool { return slices.Contains(args, name) })
	if cmd, _, err := root.Find(args); err == nil && cmd != root {
		return root
	}
	return Tree(a)
}

// tree is a command tree with the commands that are wanted.
func tree(a *cli.App, wanted func(name string) bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "ferrus",
		Short:         "Supervise coding agents",
		Long:          about,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return alone(a, cmd) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.EmptyFlag(cmd); err != nil {
				return err
			}
			a.Parsed = true // what fails before this is an error of usage
			return nil
		},
	}
	root.Version = setup.VersionText()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(usage)
	root.SetHelpCommand(helpCommand(root))
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Dir, "root", "C", "", "`DIR` in the project (default $FERRUS_ROOT, else .)")
	flags.StringVar(&a.Branch, "branch", "", "`NAME` of the branch (default: of this work tree)")
	flags.BoolVar(&a.JSON, "json", false, "print JSON; errors go to stderr")
	a.ErrorsFlag(flags)
	flags.SortFlags = false
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	unsorted()
	addCommands(root, a, wanted)
	complete(root, a)
	return root
}

// alone is ferrus without a command: the screen where a person can use it, else the status; outside of a project the help.
func alone(a *cli.App, cmd *cobra.Command) error {
	ctx := cmd.Context()
	switch {
	case ui.Opens(a, ctx):
		return ui.Open(a, ctx)
	case ui.InProject(a, ctx):
		return status.Show(a, ctx)
	}
	return cmd.Help()
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
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Show the help of a command or topic",
		Example: "  ferrus help run\n  ferrus help exit-codes",
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
	a.Run = Run
	args = unslashed(args)
	root := treeFor(a, args)
	root.SetArgs(args)
	a.In = cli.Interruptible{Ctx: ctx, From: a.In}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return cli.ExitOK
	}
	if sig := proc.SignalBehind(ctx, err); sig != nil {
		return a.Fail(a.InterruptedError(sig, err))
	}
	if !a.Parsed {
		a.JSON = a.JSON || slices.Contains(args, "--json")
		err = cli.CobraError(cmd, err)
	}
	return a.Fail(err)
}

// unslashed takes the slash away that a command has in the clients of agents: /pipeline is pipeline.
func unslashed(args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], "/") && isCommand(args[0][1:]) {
		return append([]string{args[0][1:]}, args[1:]...)
	}
	return args
}
