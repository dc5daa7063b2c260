// Package status has the commands that say how things are: ferrus status, of one task, of all branches and as a live view; questions;
// doctor; and simulate.
//
// internal/status/doctor checks the files of a project. In doctor.go are the checks of ferrus.toml, workflows.json and the agents,
// whose remedies are those of the commands that use them.
//
// A simulation plays events on a task in memory, by the table of internal/state and the rules of a project: [ParseEvent] reads events
// as people write them, [Play] raises them one after the other, and [NewTask] makes a task to start with. Nothing is read from a
// project and nothing is written. It knows only the table: the engine may refuse the same event for another reason, such as files that
// changed after the submission.
//
// Start reading at status.go.
package status

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// StatusCommand is ferrus status.
func StatusCommand(a *cli.App) *cobra.Command {
	var watch, all bool
	var newest int
	cmd := &cobra.Command{
		Use:   "status [--watch | --all [-n N]]",
		Short: "Show the task, what it waits for and what you can do",
		Long: `Shows on one screen the state of the task, the agent that claimed it and what it
waits for. It also shows the budgets that are left and the commands that help
next. With --watch it stays and shows every change until ctrl-C. With --all it
shows the whole project, one line for each task: the project's own, those of the
branches, running pipelines, and archived tasks.`,
		Example: `  ferrus status
  ferrus status --watch
  ferrus status --all -n 5
  ferrus status --json`,
		Annotations: cli.Reference("", `one object: root branch task_id title state since seq epoch holder{agent alive
dead why claimed_at heartbeat lease_until} check{id status retries_used
retries_max failures log} reviews{used max} submission{id at by patch}
rejection{at by tree text} approval{id at by tree text} question{id by at text
options} output consultation{id by at text answered} waiting{for since} created
conductor agents[{run duty agent sandbox started usage doing}] spent{...}
failure_reason progress{by at text} branches[] queue[{name title}]
pipelines[{run topic state waiting next}] notices[] next[{command why}]. With
--watch, one such object a line whenever it differs. With --all: root
needs_you[{id kind branch run title since text output
options[] command}]
machines[{branch parent{branch seq id} task_id title state group since
waiting{for since} waits holder agents[] checks{used max} reviews{used max}
size{files added deleted} score spent{...} merged error}]
pipelines[{run topic state waiting next}] queue[{name title}] archived_runs[]
archived[{branch task_id title state at error}] more.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case all && watch:
				return cli.UsageError("ferrus status{branch} --watch", "--watch shows one task, and --all shows every task")
			case cmd.Flags().Changed("number") && (!all || newest < 0):
				return cli.UsageError("ferrus status --all -n 20", "-n is the number of archived tasks that --all shows")
			case all:
				return statusAll(a, cmd.Context(), newest)
			}
			if !watch {
				return Show(a, cmd.Context())
			}
			e, err := a.OpenToRead(cmd.Context())
			if err != nil {
				return err
			}
			defer e.Close()
			return watchTask(a, cmd.Context(), e)
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "stay and show every change")
	cmd.Flags().BoolVar(&all, "all", false, "show the whole project: branches, pipelines, archived tasks")
	cmd.Flags().IntVarP(&newest, "number", "n", 10, "with --all: only the newest `N` archived tasks")
	return cmd
}

// Show prints the status of the task.
func Show(a *cli.App, ctx context.Context) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := status.ReadAll(e)
	if err != nil {
		return err
	}
	if e.Foreign() == nil {
		c, err := e.Copies(ctx) // on demand only: git walks all untracked files
		if err == nil && len(c.Waiting) > 0 {
			r.Notices = append(r.Notices, c.WaitingText())
		}
		if err == nil && len(c.Missing) > 0 && e.Place().InDatabase() { // another computer may have it
			r.Notices = append(r.Notices, c.MissingText())
		}
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.ShowReport(r)
	return nil
}
