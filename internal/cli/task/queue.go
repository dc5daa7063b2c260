package task

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// queueing are the flags of ferrus queue.
type queueing struct {
	from                                       cli.Source
	name, show, replace, remove, issue, issues string
	asked                                      branch.Queueing
	graph                                      bool
}

// needs adds the flags about what a task needs, and returns whether one of them was given.
func (q *queueing) needs(cmd *cobra.Command, more bool) func() bool {
	flags := cmd.Flags()
	names := []string{"needs", "priority"}
	flags.StringSliceVar(&q.asked.Needs, "needs", nil, "take it when these `TASKS` are done")
	flags.IntVar(&q.asked.Priority, "priority", 0, "`N` from 1, which is taken first, to 9 (default 5)")
	if more {
		names = append(names, "no-needs")
		flags.BoolVar(&q.asked.NoNeeds, "no-needs", false, "with --replace: it needs no other task")
	}
	return func() bool { return slices.ContainsFunc(names, flags.Changed) }
}

// QueueCommand is ferrus queue.
func QueueCommand(a *cli.App) *cobra.Command {
	var how queueing
	var asked func() bool
	cmd := &cobra.Command{
		Use:   "queue [TEXT | -f FILE | --from-issue 42] [--name NAME]",
		Short: "List the tasks that wait, or add one",
		Long: `Adds a task to the queue, or lists the queue. "ferrus run --parallel" takes
tasks whose needs are done, by priority and in the order of adding. Each gets a
branch of its name. A task is a file, .ferrus/queue/NAME.md: create, edit,
rename and delete it as you like. With a database it is a row, which any node
takes. Adding a task starts nothing. A need is done when its work is approved,
and merged where ferrus merges.`,
		Example: `  ferrus queue
  ferrus queue "update the docs" --name docs
  ferrus queue -f task.md
  ferrus queue --from-issue 42
  ferrus queue --from-issues "label:ferrus"
  ferrus queue --show docs
  ferrus queue "release it" --needs docs --priority 1
  ferrus queue --graph
  ferrus queue --replace docs "update the docs and the examples"
  ferrus queue --remove docs`,
		Annotations: cli.Reference(`The first line of a file that ferrus has written is "added: TIME", and an empty
line follows. Another time gives the task another place. Files without that line
come last of their priority, in the order of their names. That head can also
have the lines "needs: NAME, NAME" and "priority: N".

--from-issue takes an issue of the repository of origin, or of its URL, by gh
with your login: title, labels, text, and comments of owners, members and
collaborators, framed as text of others. Its name is issue-42, and taken twice
it is one task. Agents cannot use it. The head of such a task has its address in
a line "issue: URL". In a text that you add the line has no effect.

--from-issues takes the open issues that a search of GitHub finds, the oldest
first, at most 50 at a time. The search is one of the repository of origin, or
of that which a word repo:OWNER/NAME names. Issues that were tasks before are
left out. One that cannot be read does not stop the others; then the exit code
is 1.

With a database, files that you put into .ferrus/queue are moved into it by the
next "ferrus queue", run, step or node in that folder. Those without a time are
added at that moment.`, `for a task that is added or replaced: name path waiting. For the list: name
title added path needs priority issue waits blocked of each. --show: name added
path text needs priority issue. --remove: name. --graph: tasks. --from-issue:
name url added. --from-issues: issues (name url added error of each) added more.
path is left out in a database, added in files that have no time, the others
where there is nothing.`),
		RunE: func(cmd *cobra.Command, words []string) error {
			given, about := cli.TextGiven(cmd, words), 0
			for _, name := range []string{how.name, how.show, how.replace, how.remove} {
				if name != "" {
					about++
				}
			}
			switch {
			case how.issue+how.issues != "" && (about > 0 || given || how.graph || asked() || how.issue != "" && how.issues != ""):
				return cli.UsageError("ferrus queue --from-issue 42", "an issue is added by its number or a search alone")
			case how.issue != "":
				return queueIssue(a, cmd.Context(), how.issue)
			case how.issues != "":
				return queueIssues(a, cmd.Context(), how.issues)
			case about > 1 || about > 0 && how.graph:
				return cli.UsageError("ferrus queue --show NAME", "use one of --name, --show, --replace, --remove and --graph")
			case how.asked.NoNeeds && (how.replace == "" || how.asked.Needs != nil):
				return cli.UsageError("ferrus queue --replace NAME --no-needs", "--no-needs is for a task that waits, in place of --needs")
			case asked() && !given && how.replace == "":
				return cli.UsageError(`ferrus queue --needs NAME "what is to be done"`, "there is no text")
			case how.graph && given:
				return cli.UsageError("ferrus queue --graph", "--graph shows all that wait")
			case how.graph:
				return graph(a, cmd.Context())
			case how.replace != "" && (given || asked()):
				return requeue(a, cmd.Context(), how, given, words)
			case how.replace != "":
				return cli.UsageError(refusal.Say(`ferrus queue --replace %s "what is to be done"`, how.replace), "there is no text")
			case (how.show != "" || how.remove != "") && given:
				return cli.UsageError("ferrus queue --show NAME", "a task is shown or removed by its name alone")
			case how.show != "":
				return showQueued(a, cmd.Context(), how.show)
			case how.remove != "":
				return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("dequeue"), Item: how.remove}, cli.Source{})
			case given:
				return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("queue"), Item: how.name, Asked: how.asked}, how.from, words...)
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
	flags.BoolVar(&how.graph, "graph", false, "show which task needs which")
	flags.StringVar(&how.issue, "from-issue", "", "add the issue of a `NUMBER` or URL, by gh")
	flags.StringVar(&how.issues, "from-issues", "", "add the open issues that a `SEARCH` finds, by gh")
	how.from.FileFlag(cmd)
	asked = how.needs(cmd, true)
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
	if names := it.NeedNames(); names != nil {
		m["needs"] = names
	}
	if it.Priority != 0 {
		m["priority"] = it.Priority
	}
	if it.Issue != "" {
		m["issue"] = it.Issue
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

// requeue replaces the text of a task that waits, or what it needs.
func requeue(a *cli.App, ctx context.Context, how queueing, given bool, words []string) error {
	if !given {
		home, err := queueHome(a, ctx)
		if err != nil {
			return err
		}
		it, err := queue.Find(home, how.replace)
		if err != nil {
			return err
		}
		words = []string{it.Text}
	}
	return a.Decide(ctx, status.Request{Kind: status.ActNamed("requeue"), Item: how.replace, Asked: how.asked}, how.from, words...)
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
	tasks := queueOf(a, ctx, list)
	rows, widest := []map[string]any{}, 0
	for i, it := range list {
		row := itemJSON(it, "title", it.Title())
		if t := tasks[i]; t.Waits != "" {
			row["waits"], row["blocked"] = t.Waits, t.Blocked
		}
		rows = append(rows, row)
		widest = max(widest, len(it.Name))
	}
	if a.JSON {
		err = a.PrintJSON(rows)
	}
	var next []status.Step
	for i := 0; !a.JSON && i < len(list); i++ {
		a.Say("%s%s  %s\n", a.Paint(cli.Bold, list[i].Name), strings.Repeat(" ", widest-len(list[i].Name)), format.Clip(list[i].Title(), 100))
		if t := tasks[i]; t.Waits != "" {
			colour := cli.Dim
			if t.Blocked {
				colour, next = cli.Yellow, append(next, t.Steps()...)
			}
			a.Say("%s  %s\n", strings.Repeat(" ", widest), a.Paint(colour, format.Line(t.Waits)))
		}
	}
	if len(next) > 0 {
		a.ShowSteps(next[:min(len(next), mostSteps)])
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

// mostSteps is how many commands are named that end that tasks are blocked.
const mostSteps = 6

// queueOf says how the tasks of a list stand, as far as it can be found out: the list is shown all the same.
func queueOf(a *cli.App, ctx context.Context, list []queue.Item) []status.QueuedTask {
	e, err := engineOfQueue(a, ctx)
	if err != nil {
		return status.QueueOf(list, nil)
	}
	defer e.Close()
	return status.QueueOf(list, e)
}

// graph shows which task of the queue needs which.
func graph(a *cli.App, ctx context.Context) error {
	home, err := queueHome(a, ctx)
	if err != nil {
		return err
	}
	list, _ := queue.List(home) // the command that lists it says what else is wrong
	g := status.GraphOf(queueOf(a, ctx, list))
	if a.JSON {
		return a.PrintJSON(g)
	}
	a.Say("%s", g.Text())
	return nil
}

// engineOfQueue opens the project's own machine to look, whichever of its machines the command means.
func engineOfQueue(a *cli.App, ctx context.Context) (*engine.Engine, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	return a.OpenToReadAt(project.At(place.Root, ""))
}

// queueHome is the .ferrus folder of the project, whichever of its machines the command means.
func queueHome(a *cli.App, ctx context.Context) (string, error) {
	place, err := a.Place(ctx)
	if err != nil {
		return "", err
	}
	return project.At(place.Root, "").Dir(), nil
}
