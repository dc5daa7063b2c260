package main

import "os"

// endProcess ends a process of ours: it cannot be asked.
func endProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// outlive has nothing to do: no signal comes when a terminal is closed.
func outlive() {}
