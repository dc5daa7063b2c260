package setup

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
)

// become runs the agent in this terminal until it ends, and ends as it did: a process of Windows cannot turn into
// another one.
func become(program string, l agents.Launch) error {
	signal.Ignore(os.Interrupt) // it is the agent's
	cmd := exec.Command(program, l.Argv[1:]...)
	cmd.Env, cmd.Dir = l.Env, l.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return cli.ExitWith(exit.ExitCode())
	}
	return err
}
