package root

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/branch"
	"github.com/ferrus-go/ferrus/internal/cli/demo"
	"github.com/ferrus-go/ferrus/internal/cli/doctor"
	"github.com/ferrus-go/ferrus/internal/cli/log"
	"github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/cli/run"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/cli/simulate"
	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/cli/task"
	"github.com/ferrus-go/ferrus/internal/cli/ui"
	"github.com/ferrus-go/ferrus/internal/cli/web"
)

// A group is a heading of `ferrus --help` with its commands.
type group struct {
	id, title string
	commands  []func(*cli.App) *cobra.Command
}

// groups are all commands, in the order of the help.
var groups = []group{
	{"start", "Start here:", []func(*cli.App) *cobra.Command{
		setup.InitCommand, run.RunCommand, status.Command, ui.Command, web.Command, status.QuestionsCommand, task.AnswerCommand, run.ResumeCommand, run.StopCommand, run.StepCommand, demoCommand}},
	{"task", "Tasks:", []func(*cli.App) *cobra.Command{
		task.TaskCommand, task.QueueCommand, task.SendCommand, task.ApproveCommand, task.RejectCommand, task.CheckCommand,
		task.ReleaseCommand, task.ReopenCommand, task.ResetCommand, task.RollbackCommand}},
	{"branch", "Branches:", []func(*cli.App) *cobra.Command{
		branch.BranchCommand, branch.BranchesCommand, branch.SelectCommand, branch.MergeCommand, branch.GcCommand, run.NodeCommand}},
	{"pipeline", "Pipelines:", []func(*cli.App) *cobra.Command{pipeline.Command, run.TickCommand, run.WaitFileCommand}},
	{"inspect", "Inspect:", []func(*cli.App) *cobra.Command{
		log.LogCommand, log.LogsCommand, log.ShowCommand, log.StackCommand, task.DiffCommand, task.ContextCommand, simulate.Command, log.EvidenceCommand,
		doctor.Command}},
	{"setup", "Set up:", []func(*cli.App) *cobra.Command{
		setup.ConfigCommand, setup.TrustCommand, setup.NotifyCommand, setup.AgentsCommand, setup.RegisterCommand, setup.UnregisterCommand,
		setup.OpenCommand, setup.ServeCommand, setup.ConnectCommand, setup.TokenCommand, setup.StoreCommand, setup.UninstallCommand, setup.VersionCommand}},
}

// demoCommand is the demo, which needs no project.
func demoCommand(*cli.App) *cobra.Command { return demo.Command() }

// addCommands gives root its commands and help topics.
func addCommands(root *cobra.Command, a *cli.App) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			c := command(a)
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	for _, topic := range topics {
		root.AddCommand(topic.command())
	}
}
