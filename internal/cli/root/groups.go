package root

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/branch"
	"github.com/ferrus-go/ferrus/internal/cli/demo"
	"github.com/ferrus-go/ferrus/internal/cli/log"
	"github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/cli/run"
	"github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/cli/task"
	"github.com/ferrus-go/ferrus/internal/cli/ui"
)

// A group is a heading of `ferrus --help` with its commands.
type group struct {
	id, title string
	commands  []command
}

// A command has its name beside what makes it, so that a command line makes only the one that it names.
type command struct {
	name string
	make func(*cli.App) *cobra.Command
}

// groups are all commands, in the order of the help.
var groups = []group{
	{"start", "Start here:", []command{
		{"init", setup.InitCommand},
		{"run", run.RunCommand},
		{"status", status.StatusCommand},
		{"ui", ui.UICommand},
		{"web", ui.WebCommand},
		{"questions", status.QuestionsCommand},
		{"answer", task.AnswerCommand},
		{"resume", run.ResumeCommand},
		{"stop", run.StopCommand},
		{"step", run.StepCommand},
		{"demo", demoCommand},
	}},
	{"task", "Tasks:", []command{
		{"task", task.TaskCommand},
		{"queue", task.QueueCommand},
		{"send", task.SendCommand},
		{"approve", task.ApproveCommand},
		{"reject", task.RejectCommand},
		{"check", task.CheckCommand},
		{"commit", branch.CommitCommand},
		{"pr", branch.PrCommand},
		{"release", task.ReleaseCommand},
		{"reopen", task.ReopenCommand},
		{"reset", task.ResetCommand},
		{"rollback", task.RollbackCommand},
	}},
	{"branch", "Branches:", []command{
		{"branch", branch.BranchCommand},
		{"branches", branch.BranchesCommand},
		{"select", branch.SelectCommand},
		{"merge", branch.MergeCommand},
		{"gc", branch.GcCommand},
		{"node", run.NodeCommand},
	}},
	{"pipeline", "Pipelines:", []command{
		{"pipeline", pipeline.Command},
		{"tick", run.TickCommand},
		{"wait-file", run.WaitFileCommand},
	}},
	{"inspect", "Inspect:", []command{
		{"log", log.LogCommand},
		{"logs", log.LogsCommand},
		{"show", log.ShowCommand},
		{"history", log.HistoryCommand},
		{"usage", log.UsageCommand},
		{"metrics", log.MetricsCommand},
		{"trace", log.TraceCommand},
		{"stack", log.StackCommand},
		{"diff", task.DiffCommand},
		{"context", task.ContextCommand},
		{"simulate", status.SimulateCommand},
		{"evidence", log.EvidenceCommand},
		{"doctor", status.DoctorCommand},
	}},
	{"setup", "Set up:", []command{
		{"config", setup.ConfigCommand},
		{"trust", setup.TrustCommand},
		{"notify", setup.NotifyCommand},
		{"service", setup.ServiceCommand},
		{"agents", setup.AgentsCommand},
		{"register", setup.RegisterCommand},
		{"unregister", setup.UnregisterCommand},
		{"open", setup.OpenCommand},
		{"serve", setup.ServeCommand},
		{"connect", setup.ConnectCommand},
		{"hook", setup.HookCommand},
		{"token", setup.TokenCommand},
		{"store", setup.StoreCommand},
		{"uninstall", setup.UninstallCommand},
		{"docs", setup.DocsCommand},
		{"version", setup.VersionCommand},
		{"upgrade-check", setup.UpgradeCheckCommand},
	}},
}

// demoCommand is the demo, which needs no project.
func demoCommand(*cli.App) *cobra.Command { return demo.Command() }

// addCommands gives root its commands, or those of the names that are wanted, and the help topics.
func addCommands(root *cobra.Command, a *cli.App, wanted func(name string) bool) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			if wanted(command.name) {
				c := command.make(a)
				c.GroupID = g.id
				root.AddCommand(c)
			}
		}
	}
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	for _, topic := range topics {
		if wanted(topic.name) {
			root.AddCommand(topic.command())
		}
	}
}

// isCommand reports whether a word is the name of a command.
func isCommand(word string) bool {
	return slices.ContainsFunc(groups, func(g group) bool {
		return slices.ContainsFunc(g.commands, func(c command) bool { return c.name == word })
	})
}
