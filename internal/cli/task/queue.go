package task

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/act"
)

// queueing are the flags of ferrus queue.
type queueing struct {
	from                        cli.Source
	name, show, replace, remove string
}

// QueueCommand is ferrus queue.
func QueueCommand(a *cli.App) *cobra.Command {
	var how queueing
	cmd := &cobra.Command{
		Use:   "queue [TEXT | -f FILE] [--name NAME]",
		Short: "List the tasks that wait, or add one",
		Long: `Adds a task to the queue, or lists the queue. "ferrus run --parallel" takes
tasks in the order in which they were added and makes a branch of its name for
each. A task is a file, .ferrus/queue/NAME.md, that you can create, edit, rename
and delete. If the state of the project is in a database, so are the tasks, and
the nodes of all computers take them. Adding a task starts nothing.`,
		Example: `  ferrus queue
  ferrus queue "update the docs" --name docs
  ferrus queue -f task.md
  ferrus queue --show docs
  ferrus queue --replace docs "update the docs and the examples"
  ferrus queue --remove docs`,
		Annotations: cli.Reference(`The first line of a file that ferrus has written is "added: TIME", and an empty
line follows. Another time gives the task another place. Files without that line
come last, in the order of their names.

With a database, files that you put into .ferrus/queue are moved into it by the
next "ferrus queue", run, step or node in that folder. Those without a time are
added at that moment.`, `for a task that is added or replaced: name path waiting. For the list: name
title added path of each. --show: name added path text. --remove: name. path is
left out in a database, added in files that have no time.`),
		RunE: func(cmd *cobra.Command, words []string) error {
			given, about := cli.TextGiven(cmd, words), 0
			for _, name := range []string{how.name, how.show, how.replace, how.remove} {
				if name != "" {
					about++
				}
			}
			switch {
			case about > 1:
				return cli.UsageError("ferrus queue --show NAME", "use one of --name, --show, --replace and --remove")
			case how.replace != "" && given:
				return a.Decide(cmd.Context(), act.Request{Kind: act.Named("requeue"), Item: how.replace}, how.from, words...)
			case how.replace != "":
				return cli.UsageError(refusal.Say(`ferrus queue --replace %s "what is to be done"`, how.replace), "there is no text")
			case (how.show != "" || how.remove != "") && given:
				return cli.UsageError("ferrus queue --show NAME", "a task is shown or removed by its name alone")
			case how.show != "":
				return showQueued(a, cmd.Context(), how.show)
			case how.remove != "":
				return a.Decide(cmd.Context(), act.Request{Kind: act.Named("dequeue"), Item: how.remove}, cli.Source{})
			case given:
				return a.Decide(cmd.Context(), act.Request{Kind: act.Named("queue"), Item: how.name}, how.from, words...)
			case cmd.Flags().Changed("name"):
				return cli.UsageError(refusal.Say(`ferrus queue --name %s "what is to be done"`, how.name), "there is no text")
			}
			return queued(a, cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&how.name, "name", "", "`NAME` of its branch (default: from the first line)")
	flags.StringVar(&how.show, "show", "", "print the text of the task `NAME`")
	flags.StringVar(&how.replace, "replace", "", "replace the text of the task `NAME`")
	flags.StringVar(&how.remove, "remove", "", "remove the task `NAME` from the queue")
	how.from.FileFlag(cmd)
	return cmd
}

// itemJSON is a task of the queue as JSON, with one more value.
func itemJSON(it queue.Item, key string, value any) map[string]any {
	m := map[string]any{"name": it.Name, key: value}
	if it.Path != "" {
		m["path"] = it.Path
	}
	if !it.Added.IsZero() {
		m["added"] = it.Added
	}
	return m
}

// showQueued prints the text of a task that waits.
func showQueued(a *cli.App, ctx context.Context, name string) error {
	home, err := queueHome(a, ctx)
	if err != nil {
		return err
	}
	it, err := queue.Find(home, name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(itemJSON(it, "text", it.Text))
	}
	text := strings.TrimSuffix(it.Text, "\n")
	if a.OutTTY { // an agent may have queued it
		text = format.Frame(text, "")
	}
	a.Say("%s\n", text)
	return nil
}

// queued lists the tasks that wait.
func queued(a *cli.App, ctx context.Context) error {
	home, err := queueHome(a, ctx)
	if err != nil {
		return err
	}
	list, wrong := queue.List(home)
	if wrong != nil && !errors.As(wrong, new(*queue.InvalidError)) {
		return wrong
	}
	rows, widest := []map[string]any{}, 0
	for _, it := range list {
		rows = append(rows, itemJSON(it, "title", it.Title()))
		widest = max(widest, len(it.Name))
	}
	if a.JSON {
		err = a.PrintJSON(rows)
	}
	for i := 0; !a.JSON && i < len(list); i++ {
		a.Say("%s%s  %s\n", a.Paint(cli.Bold, list[i].Name), strings.Repeat(" ", widest-len(list[i].Name)), format.Clip(list[i].Title(), 100))
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

// queueHome is the .ferrus folder of the project, whichever of its machines the command means.
func queueHome(a *cli.App, ctx context.Context) (string, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return "", err
	}
	return project.At(place.Root, "").Dir(), nil
}
