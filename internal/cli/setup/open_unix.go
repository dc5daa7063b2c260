//go:build unix

package setup

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// become turns this process into the agent, which so has the terminal and its signals to itself. It returns only if that
// cannot be.
func become(program string, l agents.Launch) error {
	if err := os.Chdir(l.Dir); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %v", program, syscall.Exec(program, l.Argv, l.Env))
}
