//go:build unix

package checks

import (
	"context"
	"os/exec"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

const (
	notFound      = 127
	notExecutable = 126
)

// shell returns a command that leads a process group of its own, so that "kill 0" in a script does
// not reach the helper.
func shell(line string) *exec.Cmd {
	cmd := proc.Shell(context.Background(), line) // finish ends it, with all processes that it started
	cmd.SysProcAttr = proc.Bound(true)
	return cmd
}
