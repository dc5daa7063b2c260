// Package notify tells a person something outside of the terminal: it runs the command of [notify]
// in ferrus.toml. Callers decide the text, and remember what was sent.
package notify

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// limit is how long the command may take.
const limit = 30 * time.Second

// Run runs a shell command in the folder dir, with text on its standard input. Its environment is
// own, or that of this process when own is nil, followed by env, each NAME=value. An empty command
// does nothing. The error contains the command's output.
func Run(ctx context.Context, command, dir, text string, own []string, env ...string) error {
	if command == "" {
		return nil
	}
	if own == nil {
		own = os.Environ()
	}
	if err := proc.RunShell(ctx, limit, command, dir, text+"\n", slices.Concat(own, env)); err != nil {
		return fmt.Errorf("the command of [notify] failed: %w", err)
	}
	return nil
}
