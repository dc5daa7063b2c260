package task

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/fleet"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/queue"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// QueueCommand is ferrus queue.
func QueueCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var name string
	cmd := &cobra.Command{
		Use:   "queue [TEXT | -f FILE] [--name NAME]",
		Short: "List the tasks that wait, or add one",
		Long: `Adds a task to the queue, or lists the queue. "ferrus run --parallel" takes
tasks in the order of their names and makes a branch of that name for each. A
task is a file, .ferrus/queue/NAME.md, that you can create, edit, rename and
delete. Adding a task starts nothing.`,
		Example: `  ferrus queue
  ferrus queue "update the docs" --name docs
  ferrus queue -f task.md`,
		Annotations: cli.Reference("", `for a task that is added: name path waiting. For the list: name title path of
each.`),
		RunE: func(cmd *cobra.Command, words []string) error {
			switch {
			case cli.TextGiven(cmd, words):
				return enqueue(a, cmd.Context(), name, from, words)
			case cmd.Flags().Changed("name"):
				return cli.UsageError(`ferrus queue --name `+name+` "what is to be done"`, "there is no text")
			}
			return queued(a, cmd.Context())
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of its branch (default: from the first line)")
	from.FileFlag(cmd)
	return cmd
}

// enqueue adds a task to those that wait.
func enqueue(a *cli.App, ctx context.Context, name string, from cli.Source, words []string) error {
	if err := a.RefuseAgent("queue"); err != nil {
		return err
	}
	home, err := home(a, ctx)
	if err != nil {
		return err
	}
	text, err := a.Text(from, words)
	if err != nil {
		return err
	}
	it, err := queue.Put(home, name, text)
	if err != nil {
		return err
	}
	all, _ := queue.List(home) // the command that lists it says what else is wrong
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": it.Name, "path": it.Path, "waiting": len(all)})
	}
	a.Say("%s waits; %s in the queue\n", it.Name, format.Count(len(all), "task is", "tasks are"))
	if h, busy := conductor.Conductor(fleet.Dir(filepath.Dir(home))); busy {
		a.Say("  the active run takes it (process %d)\n", h.Pid)
		return nil
	}
	a.ShowSteps([]status.Step{{Command: "ferrus run --parallel 2", Why: "starts them, two at a time"}, {Command: "ferrus queue", Why: "lists them"}})
	return nil
}

// queued lists the tasks that wait.
func queued(a *cli.App, ctx context.Context) error {
	home, err := home(a, ctx)
	if err != nil {
		return err
	}
	list, wrong := queue.List(home)
	rows, widest := []map[string]string{}, 0
	for _, it := range list {
		rows = append(rows, map[string]string{"name": it.Name, "title": it.Title(), "path": it.Path})
		widest = max(widest, len(it.Name))
	}
	if a.JSON {
		err = a.PrintJSON(rows)
	}
	for i := 0; !a.JSON && i < len(rows); i++ {
		a.Say("%s%s  %s\n", a.Paint(cli.Bold, rows[i]["name"]), strings.Repeat(" ", widest-len(rows[i]["name"])), format.Clip(rows[i]["title"], 100))
	}
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return cli.Refuse(refusal.StoreError, "some files of the queue are not valid tasks:\n"+format.Indent(wrong.Error(), "  "),
			"fix, rename or delete them; the other tasks are not affected")
	case len(list) == 0 && !a.JSON:
		a.Say("the queue is empty; ferrus queue \"what is to be done\" adds a task\n")
	}
	return nil
}

// home is the .ferrus folder of the project, whichever of its machines the command means.
func home(a *cli.App, ctx context.Context) (string, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return "", err
	}
	return project.At(place.Root, "").Dir(), nil
}
