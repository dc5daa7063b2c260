package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/status"
)

// StopCommand is ferrus stop.
func StopCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the run and its agents; the task stays as it is",
		Long: `Ends the "ferrus run" or "ferrus resume" of this task, and all agents that it
started. The task stays as it is, and "ferrus resume" continues it. Agents that
you started yourself stay. A run with --parallel ends as a whole. The run itself
exits with code 9.`,
		Example: `  ferrus stop
  ferrus stop --json`,
		Annotations: cli.Reference("", "conductor (process id, 0 if there was none) ended[] state."),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return runStop(a, cmd.Context()) },
	}
}

// stopLimit is how long a conductor is given to end by itself: longer than it gives its agents.
const stopLimit = 20 * time.Second

func runStop(a *cli.App, ctx context.Context) error {
	s, err := a.OpenAsPerson(ctx, "stop")
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	before, err := status.Read(e)
	if err != nil {
		return err
	}
	dir := e.Place().Path()
	h, busy := conductor.Conductor(dir)
	if !busy && e.Place().Branch == "" {
		dir = schedule.Dir(e.Place().Root)
		h, busy = conductor.Conductor(dir)
	}
	ctx, finish := a.Working(ctx, "ending the agents")
	defer finish()
	if busy {
		if err := proc.RequestStop(h.Pid); err != nil {
			return fmt.Errorf("end the run (process %d): %v", h.Pid, err)
		}
		for until := time.Now().Add(stopLimit); busy && time.Now().Before(until) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			_, busy = conductor.Conductor(dir)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case busy:
			if p, err := os.FindProcess(h.Pid); err == nil {
				_ = p.Kill()
			}
		}
	}
	if err := schedule.EndAll(ctx, e); err != nil {
		return err
	}
	finish()
	var ended []string
	for _, r := range before.Agents {
		ended = append(ended, r.Name)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"conductor": h.Pid, "ended": ended, "state": before.State})
	}
	if h.Pid == 0 && len(ended) == 0 {
		a.Say("nothing to do: no run is active, and no agent of one\n")
		return nil
	}
	if h.Pid != 0 {
		a.Say("ended the run (process %d)\n", h.Pid)
	}
	for _, name := range ended {
		a.Say("ended %s\n", name)
	}
	return a.ShowNext(e)
}
