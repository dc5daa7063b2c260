package task

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
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
				return requeue(a, cmd.Context(), how, words)
			case how.replace != "":
				return cli.UsageError(refusal.Say(`ferrus queue --replace %s "what is to be done"`, how.replace), "there is no text")
			case (how.show != "" || how.remove != "") && given:
				return cli.UsageError("ferrus queue --show NAME", "a task is shown or removed by its name alone")
			case how.show != "":
				return showQueued(a, cmd.Context(), how.show)
			case how.remove != "":
				return dequeue(a, cmd.Context(), how.remove)
			case given:
				return enqueue(a, cmd.Context(), how.name, how.from, words)
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

// enqueue adds a task to those that wait.
func enqueue(a *cli.App, ctx context.Context, name string, from cli.Source, words []string) error {
	if err := a.RefuseAgent("queue"); err != nil {
		return err
	}
	home, err := queueHome(a, ctx)
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
		return a.PrintJSON(itemJSON(it, "waiting", len(all)))
	}
	a.Say("%s waits; %s in the queue\n", it.Name, format.Count(len(all), "task is", "tasks are"))
	place := project.At(filepath.Dir(home), "")
	if h, busy := conductor.Conductor(schedule.Dir(place.Root)); busy {
		a.Say("  the active run takes it (process %d)\n", h.Pid)
		return nil
	}
	start := status.Step{Command: place.RunAll("2"), Why: "starts them, two at a time"}
	if place.InDatabase() {
		start.Why += ", on this computer; the node of any other takes them too"
	}
	a.ShowSteps([]status.Step{start, {Command: "ferrus queue", Why: "lists them"}})
	return nil
}

// itemJSON is a task of the queue as JSON, with one more value.
func itemJSON(it queue.Item, key string, value any) map[string]any {
	m := map[string]any{"name": it.Name, key: value}
	if it.Path != "" {
		m["path"] = it.Path
	}
	return m
}

// shownJSON is itemJSON with the time at which the task was added.
func shownJSON(it queue.Item, key string, value any) map[string]any {
	m := itemJSON(it, key, value)
	if !it.Added.IsZero() {
		m["added"] = it.Added
	}
	return m
}

// find returns the task of a name that waits.
func find(a *cli.App, ctx context.Context, name string) (it queue.Item, home string, err error) {
	if home, err = queueHome(a, ctx); err == nil {
		it, err = queue.Find(home, name)
	}
	return it, home, err
}

// showQueued prints the text of a task that waits.
func showQueued(a *cli.App, ctx context.Context, name string) error {
	it, _, err := find(a, ctx, name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(shownJSON(it, "text", it.Text))
	}
	text := strings.TrimSuffix(it.Text, "\n")
	if a.OutTTY { // an agent may have queued it
		text = format.Frame(text, "")
	}
	a.Say("%s\n", text)
	return nil
}

// requeue replaces the text of a task that waits.
func requeue(a *cli.App, ctx context.Context, how queueing, words []string) error {
	if err := a.RefuseAgent("queue"); err != nil {
		return err
	}
	it, home, err := find(a, ctx, how.replace)
	if err != nil {
		return err
	}
	text, err := a.Text(how.from, words)
	if err != nil {
		return err
	}
	if err := queue.Replace(it, text); err != nil {
		return err
	}
	all, _ := queue.List(home) // the command that lists it says what else is wrong
	if a.JSON {
		return a.PrintJSON(itemJSON(it, "waiting", len(all)))
	}
	a.Say("%s has its new text\n", it.Name)
	return nil
}

// dequeue removes a task that waits.
func dequeue(a *cli.App, ctx context.Context, name string) error {
	if err := a.RefuseAgent("queue"); err != nil {
		return err
	}
	it, _, err := find(a, ctx, name)
	if err == nil {
		err = queue.Remove(it)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": it.Name})
	}
	a.Say("removed %s from the queue\n", it.Name)
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
		rows = append(rows, shownJSON(it, "title", it.Title()))
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
