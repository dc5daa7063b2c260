package postgrestest

import (
	"errors"
	"syscall"
)

// supported returns why servers cannot run on this system.
func supported() error {
	return errors.New("servers are frozen and killed by signals, which Windows does not have")
}

func bound(*owning) *syscall.SysProcAttr { return nil }
func immediately(int)                    {}
func thaw([]int)                         {}
func freeze(int) ([]int, error)          { return nil, supported() }
func kill([]int)                         {}
func unshare(string)                     {}
