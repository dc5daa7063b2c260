package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// NodeCommand is ferrus node.
func NodeCommand(a *cli.App) *cobra.Command {
	how := conducting{headless: true}
	cmd := &cobra.Command{
		Use:   "node [--max N] [--only BRANCH]",
		Short: "Work on the branches of a project that several computers share",
		Long: `Conducts the branches of the project and the tasks of the queue, as one of
several computers. Each task has one node. When a node stops or is lost, another
one continues its tasks. It runs until ctrl-C, SIGTERM or "ferrus node drain".
The state of the project must be in a database: see "ferrus store".`,
		Example: `  ferrus node
  ferrus node --max 4
  ferrus node --only parser
  ferrus node drain`,
		Annotations: cli.Reference(`A node takes a task that no other one conducts. With [store] trees it brings
the files to this computer first. Each agent is recorded in the database before
it starts, so that no task has two agents of a kind. Budgets count the agents of
all computers. A node that cannot reach the database for 8 seconds ends its
agents; others continue after 10. A node waits for a database that is away when
it starts.

Approved work waits on its branch: a person merges it. A question stops only its
own branch.

Exit codes:

- 1: an error occurred
- 7: another node or run works in this folder
- 9: it was drained
- 130, 143: ctrl-C or SIGTERM ended it`, `one object a line, as of "ferrus run --parallel". The last line is: kind (end)
exit.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if how.parallel < 1 {
				return cli.UsageError("use --max 3", "--max %d is not a number of tasks", how.parallel)
			}
			return runNode(a, cmd.Context(), how)
		},
	}
	cmd.Flags().IntVar(&how.parallel, "max", 1, "work on at most `N` tasks at a time")
	cmd.Flags().StringSliceVar(&how.only, "only", nil, "work on this `BRANCH` alone; may be repeated")
	cli.UnrehearsedFlag(cmd, &how.allowed)
	cmd.AddCommand(&cobra.Command{
		Use:   "drain",
		Short: "Stop the node of this computer, and hand its tasks over",
		Long: `Ends the node that runs in this folder. Its agents are ended first. With [store]
trees the files of its tasks go to the other computers as they are. Returns when
the node has ended.`,
		Example:     `  ferrus node drain`,
		Annotations: cli.Reference("", "node (process id, 0 if there was none)."),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return drain(a, cmd.Context()) },
	})
	return cmd
}

// runNode conducts what no other computer does.
func runNode(a *cli.App, ctx context.Context, how conducting) error {
	if err := a.RefuseAgent("node"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	if !place.InDatabase() {
		return cli.Refuse(refusal.WrongState, "the state of the project is in files of this computer, which no other one can share",
			"ferrus run --parallel N works on its branches; ferrus store move URL moves the state into a database")
	}
	w := newFleetWatcher(a)
	switch err := reach(ctx, place, w); {
	case ctx.Err() != nil:
		return nodeEnded(a, ctx)
	case err != nil:
		return err
	}
	r, err := prepare(a, ctx, how)
	if err != nil {
		return err
	}
	defer r.Engine().Close()
	opts, err := a.Options(place.Root)
	if err != nil {
		return err
	}
	cli.IgnoreHangup()
	if !a.JSON {
		a.Say("waiting for tasks; ctrl-C or \"ferrus node drain\" ends it\n")
	}
	_, err = schedule.Run(ctx, place.Root, schedule.Options{Parallel: how.parallel, Node: true, Only: how.only, Caller: r.Caller, Engine: opts, Tell: w.tell, Follow: w.follow,
		Conduct: func(branch string, e *engine.Engine) (conductor.Options, error) { return r.ofBranch(ctx, w, branch, e) }})
	w.close()
	if !errors.Is(err, conductor.ErrStopped) {
		return err
	}
	return nodeEnded(a, ctx)
}

// reach waits until the database answers, as the one node of the folder: "ferrus node drain" ends it.
func reach(ctx context.Context, place project.Place, w *fleetWatcher) error {
	lock, err := conductor.Hold(schedule.Dir(place.Root))
	if err != nil {
		return err
	}
	defer lock.Close()
	return place.Reach(ctx, func(why error) {
		w.tell(schedule.Event{Kind: schedule.Trouble, Text: "this computer waits for the database: " + why.Error()})
	})
}

// nodeEnded says that a signal has stopped the node.
func nodeEnded(a *cli.App, ctx context.Context) error {
	exit := cli.ExitOfSignal(ctx)
	if a.JSON {
		if err := a.PrintJSONLine(map[string]any{"kind": "end", "exit": exit}); err != nil {
			return err
		}
	} else {
		a.Say("stopped; other computers can continue\n")
		a.ShowSteps([]status.Step{{Command: "ferrus node", Why: "continues here"}, {Command: "ferrus store", Why: "shows the computers"}})
	}
	return cli.ExitWith(exit)
}

// drainLimit is how long a node may take to end its agents and to hand its tasks over.
const drainLimit = 5 * time.Minute

func drain(a *cli.App, ctx context.Context) error {
	if err := a.RefuseAgent("node drain"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	dir := schedule.Dir(place.Root)
	h, busy := conductor.Conductor(dir)
	if busy {
		if err := proc.RequestStop(h.Pid); err != nil {
			return fmt.Errorf("end the node (process %d): %v", h.Pid, err)
		}
		for until := time.Now().Add(drainLimit); busy && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			if _, busy = conductor.Conductor(dir); busy && time.Now().After(until) {
				return cli.Refuse(refusal.LockBusy, fmt.Sprintf("the node (process %d) has not ended within %s", h.Pid, drainLimit), "see what it prints, then try again")
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"node": h.Pid})
	}
	if h.Pid == 0 {
		a.Say("nothing to do: no node runs in this folder\n")
		return nil
	}
	a.Say("ended the node (process %d)\n", h.Pid)
	return nil
}
