package run

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// WaitFileCommand is ferrus wait-file.
func WaitFileCommand(a *cli.App) *cobra.Command {
	var every time.Duration
	var times int
	cmd := &cobra.Command{
		Use:   "wait-file PATH...",
		Short: "Wait until files exist and are not empty",
		Long: `Waits until all files exist as regular files with content, and prints
INPUT_READY. By default it looks every 5 seconds, 60 times. Then it prints
TIMEOUT and exits with code 5. It is for the shell of an agent that needs files
of other agents.`,
		Example: `  ferrus wait-file notes.md plan.md
  ferrus wait-file --every 2s --times 10 notes.md`,
		Annotations: cli.Reference("", "one object at the end: ready missing[]."),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if every <= 0 || times < 1 {
				return cli.UsageError("ferrus wait-file --every 5s --times 60 PATH", "--every %v --times %d does not wait", every, times)
			}
			return waitFile(a, cmd.Context(), paths, every, times)
		},
	}
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "look every `DURATION`")
	cmd.Flags().IntVar(&times, "times", 60, "look at most `N` times")
	return cmd
}

func waitFile(a *cli.App, ctx context.Context, paths []string, every time.Duration, times int) error {
	missing := absent(paths)
	for i := 1; len(missing) > 0 && i <= times; i++ {
		if !a.JSON {
			a.Say("Waiting... %d\n", i)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
		missing = absent(paths)
	}
	ready := len(missing) == 0
	switch {
	case a.JSON:
		if err := a.PrintJSON(map[string]any{"ready": ready, "missing": missing}); err != nil {
			return err
		}
	case ready:
		a.Say("INPUT_READY\n")
	default:
		a.Say("TIMEOUT\n")
	}
	if ready {
		return nil
	}
	return &cli.Failure{Code: "timeout", Message: fmt.Sprintf("missing after %s: %s", format.Duration(time.Duration(times)*every), strings.Join(missing, ", ")),
		Remedy: "check that the worker that writes it is running: ferrus pipeline status", Exit: cli.ExitTimeout, Silent: a.JSON}
}

// absent are those of the paths where there is no file, or an empty one, or none that is a regular file.
func absent(paths []string) []string {
	missing := []string{}
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			missing = append(missing, path)
		}
	}
	return missing
}
