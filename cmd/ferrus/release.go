package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/hq"
)

func releaseCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "release [-m REASON]",
		Short: "Take the work away from its holder",
		Long: `Takes the work away from the executor that holds it: its next call is refused, a check that it runs is ended, and
another executor may claim. An agent that ferrus run has started is ended; any other may go on editing files until it
calls.` + verdictJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.pass(cmd.Context(), release, from.message)
		},
	}
	from.messageFlag(cmd, "a `REASON` for the journal")
	return cmd
}

var release = verdict{"release", "release",
	func(ctx context.Context, s *engine.Session, reason string) (engine.Done, error) {
		done, err := s.Release(ctx, reason)
		if err == nil {
			err = hq.Slot(s.Engine(), agents.Executor).Stop(ctx)
		}
		return done, err
	},
	func(a *app, done engine.Done) {
		a.say("the work is released; the next executor that calls wait_for_task gets it\n")
		a.say("  whoever held it may still be editing files: end that agent if it hangs\n")
	},
}
