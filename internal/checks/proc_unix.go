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

// shell leads a group of its own, so that a script's "kill 0" does not take the helper along.
func shell(line string) *exec.Cmd {
	cmd := proc.Shell(context.Background(), line) // what ends it is finish, with all that it started
	cmd.SysProcAttr = proc.Bound(true)
	return cmd
}

// fold returns the form in which names of variables are compared.
func fold(name string) string { return name }
