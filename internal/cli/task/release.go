package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/lease"
)

// ReleaseCommand is ferrus release.
func ReleaseCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "release [-m REASON]",
		Short: "Unassign the agent that claimed the task",
		Long: `Ends the claim of the executor. Its next call is refused, its running check is
ended, and another executor may claim the task. An agent that "ferrus run"
started is ended. Any other agent may edit files until its next call.`,
		Example: `  ferrus release
  ferrus release -m "the agent is stuck"`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Decide(cmd.Context(), release(), from.Message)
		},
	}
	from.MessageFlag(cmd, "`REASON` for the journal")
	a.TaskFlag(cmd)
	return cmd
}

func release() cli.Decision {
	var alive string // the agent, if its session has not ended with the release
	return cli.Decision{Verb: "release", What: "release",
		Act: func(ctx context.Context, s *engine.Session, reason string) (engine.Done, error) {
			e := s.Engine()
			was, err := e.View()
			if err != nil {
				return engine.Done{}, err
			}
			done, err := s.Release(ctx, reason)
			if err == nil {
				err = conductor.Slot(e, agents.Executor).Stop(ctx)
			}
			if e.Store().Probe(was.Task.Session) != lease.Gone {
				alive = was.Task.ClaimedBy
			}
			return done, err
		},
		Report: func(a *cli.App, _ engine.Done) {
			a.Say("the agent is unassigned; the next executor that calls wait_for_task gets the task\n")
			if alive != "" {
				a.Say("  %s may still edit files: end that agent if it hangs\n", alive)
			}
		},
	}
}
