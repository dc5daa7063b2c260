package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/fleet"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/queue"
)

func queueCommand(a *app) *cobra.Command {
	var from source
	var name string
	cmd := &cobra.Command{
		Use:   "queue [TEXT | -f FILE] [--name NAME]",
		Short: "List the tasks that wait, or add one",
		Long: `Adds a task to those that wait, or lists them, the next one first. Each is a file of its own, .ferrus/queue/NAME.md: you can
write, change, rename and remove them as you like. They are taken in the order of their names, and each becomes a branch of
that name. Adding one starts nothing.

With --json, of one that is added: name path waiting; of the list: name title path of each.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			switch {
			case said(cmd, words):
				return a.enqueue(cmd.Context(), name, from, words)
			case cmd.Flags().Changed("name"):
				return usage(`ferrus queue --name `+name+` "what is to be done"`, "no task is given")
			}
			return a.queued(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the branch that it becomes; default: made of the first line")
	from.fileFlag(cmd)
	return cmd
}

// enqueue adds a task to those that wait.
func (a *app) enqueue(ctx context.Context, name string, from source, words []string) error {
	if err := a.refuseAgent("queue"); err != nil {
		return err
	}
	home, err := a.home(ctx)
	if err != nil {
		return err
	}
	text, err := a.text(from, words)
	if err != nil {
		return err
	}
	it, err := queue.Put(home, name, text)
	if err != nil {
		return err
	}
	all, _ := queue.List(home) // what else is wrong with it is told where it is listed
	if a.json {
		return a.print(map[string]any{"name": it.Name, "path": it.Path, "waiting": len(all)})
	}
	a.say("%s waits; %s in the queue\n", it.Name, count(len(all), "task is", "tasks are"))
	if h, busy := hq.Conductor(fleet.Dir(filepath.Dir(home))); busy {
		a.say("  the run at work takes it (process %d)\n", h.Pid)
		return nil
	}
	a.next([]step{{"ferrus run --parallel 2", "starts them, two at a time"}, {"ferrus queue", "lists them"}})
	return nil
}

// queued lists the tasks that wait.
func (a *app) queued(ctx context.Context) error {
	home, err := a.home(ctx)
	if err != nil {
		return err
	}
	list, wrong := queue.List(home)
	rows, widest := []map[string]string{}, 0
	for _, it := range list {
		title, _ := head(it.Text, 1)
		rows = append(rows, map[string]string{"name": it.Name, "title": line(title), "path": it.Path})
		widest = max(widest, len(it.Name))
	}
	if a.json {
		err = a.print(rows)
	}
	for i := 0; !a.json && i < len(rows); i++ {
		a.say("%s%s  %s\n", a.paint(bold, rows[i]["name"]), strings.Repeat(" ", widest-len(rows[i]["name"])), clip(rows[i]["title"], 100))
	}
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return refuse(engine.StoreError, "not every file of the queue is a task that can wait:\n"+indented(wrong.Error(), "  "),
			"mend, rename or remove them; the others are not held up")
	case len(list) == 0 && !a.json:
		a.say("nothing waits; ferrus queue \"what is to be done\" adds a task\n")
	}
	return nil
}

// home is the .ferrus folder of the project, whichever of its machines the command means.
func (a *app) home(ctx context.Context) (string, error) {
	place, err := a.place(ctx)
	if err != nil {
		return "", err
	}
	return engine.At(place.Root, "").Dir(), nil
}
