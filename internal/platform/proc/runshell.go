package proc

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// RunShell runs a line of a person's configuration in a folder with the environment env, but for the
// variables of a database, and the text on its standard input, for at most limit. The error says how the command ended and contains
// its first bytes of output. Background processes that keep the output open do not delay the call.
func RunShell(ctx context.Context, limit time.Duration, line, dir, text string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := Shell(ctx, line)
	// An agent may have changed a script of the project that the line names.
	cmd.Dir, cmd.Env, cmd.Stdin = dir, Without(env, []string{Database}), strings.NewReader(text)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	how := err.Error()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		how = fmt.Sprintf("it did not end within %v", limit)
	} else if cmd.ProcessState != nil {
		if _, signal := Status(cmd.ProcessState); signal != "" {
			how = signal + " ended it"
		}
	}
	return fmt.Errorf("%s: %.500s", how, out)
}
