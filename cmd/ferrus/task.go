package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
)

func taskCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "task TEXT | -f FILE [--branch NAME]",
		Short: "Give the executor something to do",
		Long: `Makes a task of a text: the words given, a file, or stdin with -f -. The work tree as it is becomes the base of all
diffs, and the checks of ferrus.toml are pinned to the task. An executor that waits gets it at once. A branch that is named
and not there is made, as ferrus branch NAME --task does.

With --json: task_id title state seq epoch commands.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			if !said(cmd, words) {
				return usage(`ferrus task "what is to be done", or ferrus task -f FILE`, "no task is given")
			}
			if err := a.ensureBranch(cmd.Context()); err != nil {
				return err
			}
			return a.task(cmd.Context(), from, words)
		},
	}
	from.fileFlag(cmd)
	return cmd
}

// ensureBranch makes the branch that the command line names, if there is none of that name.
func (a *app) ensureBranch(ctx context.Context) error {
	if a.branch == "" {
		return nil
	}
	if _, err := a.place(ctx); engine.CodeOf(err) != engine.UnknownBranch {
		return nil // the command finds out itself
	}
	on := a.branch
	a.branch = ""
	s, err := a.person(ctx, "task")
	a.branch = on
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	if err := a.agreed(s.Engine(), s.Engine().Trusted); err != nil {
		return failed("make the branch", "", err)
	}
	_, err = s.Branch(ctx, engine.Fork{Names: []string{on}, Own: true})
	return failed("make the branch", "", err)
}

func (a *app) task(ctx context.Context, from source, words []string) error {
	s, text, err := a.personText(ctx, "task", "create the task", from, words)
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	if err := a.agreed(e, e.Trusted); err != nil {
		return failed("create the task", "", err)
	}
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
		a.say("%s\n", indented(nameChecks(e.Place().Root)+"\nthen: "+engine.Commands(e.Place().Branch, "ferrus config accept"), "              "))
	case len(commands) == 0:
		a.row("checks", "every check passes (commands = [])")
	}
	for _, c := range commands {
		a.row("check", line(c))
	}
	a.say("\n  An executor that waits gets it now.\n")
	return a.onward(e)
}
