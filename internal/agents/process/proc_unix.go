//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// The signals that tell a shim why it must end its agent.
var (
	cut     os.Signal = unix.SIGTERM
	stopped os.Signal = unix.SIGINT
)

// ask asks a shim to end its agent.
func ask(shim int, why os.Signal) { _ = unix.Kill(shim, why.(unix.Signal)) }

// kill ends a shim that does not react, and all processes below it.
func kill(o Occupant) { proc.KillMarked(o.Shim, markName+"="+o.Mark) }

// terminate asks the agent to end. The agent itself ends its children, because it knows how.
func terminate(p *os.Process) { _ = p.Signal(unix.SIGTERM) }
