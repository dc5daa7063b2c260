package process

import "os"

// On Windows no signal reaches a shim.
var cut, stopped os.Signal = os.Kill, os.Interrupt

// ask ends a shim, and with its job the agent: Windows has no gentler way.
func ask(shim int, _ os.Signal) {
	if p, err := os.FindProcess(shim); err == nil {
		_ = p.Kill()
	}
}

func kill(o Occupant) { ask(o.Shim, cut) }

func terminate(p *os.Process) { _ = p.Kill() }

// sweep does nothing: the remaining processes end with this process's job.
func sweep() error { return nil }

func farewell() {}
