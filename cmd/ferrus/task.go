package main

import (
	"context"

	"github.com/spf13/cobra"
)

func taskCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "task TEXT | -f FILE",
		Short: "Give the executor something to do",
		Long: `Makes a task of a text: the words given, a file, or stdin with -f -. The work tree as it is becomes the base of all
diffs, and the checks of ferrus.toml are pinned to the task. An executor that waits gets it at once.

With --json: task_id title state seq epoch commands.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			if !said(cmd, words) {
				return usage(`ferrus task "what is to be done", or ferrus task -f FILE`, "no task is given")
			}
			return a.task(cmd.Context(), from, words)
		},
	}
	from.fileFlag(cmd)
	return cmd
}

func (a *app) task(ctx context.Context, from source, words []string) error {
	s, text, err := a.personText(ctx, "task", "create the task", from, words)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	done, err := s.CreateTask(ctx, text, "")
	if err != nil {
		return failed("create the task", standing(e), err)
	}
	t := done.Task
	gate, err := e.Gate(done.Snapshot)
	if err != nil {
		return err
	}
	commands := gate.Checks.Commands
	if a.json {
		return a.print(map[string]any{"task_id": t.TaskID, "title": t.Title, "state": t.State, "seq": t.Seq, "epoch": t.Epoch,
			"commands": commands})
	}
	a.say("%s  %s\n", t.TaskID, line(t.Title))
	switch {
	case commands == nil:
		a.row("checks", a.paint(yellow, "none are named, and without any nothing can be submitted:"))
		a.row("", "put commands into ferrus.toml, then ferrus config accept")
	case len(commands) == 0:
		a.row("checks", "every check passes (commands = [])")
	}
	for _, c := range commands {
		a.row("check", line(c))
	}
	a.say("\n  An executor that waits gets it now.\n")
	a.next([]step{{"ferrus resume", "starts the agents, if you have not"}, {"ferrus status --watch", "shows how it goes"}})
	return nil
}
