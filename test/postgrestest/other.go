//go:build !linux

package postgrestest

import (
	"errors"
	"syscall"
	"testing"
)

// supported returns why servers cannot run on this system.
func supported() error {
	return errors.New("servers of tests end with their program, which only Linux sees to")
}

func bound(*owning) *syscall.SysProcAttr { return nil }
func immediately(int)                    {}
func freeze(int) ([]int, error)          { return nil, supported() }
func thaw([]int)                         {}
func kill([]int, string)                 {}

// A Network is a network namespace, which only Linux has.
type Network struct{}

// NewNetwork skips the test.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	t.Skip(supported())
	return nil
}

// Do fails.
func (*Network) Do(func() error) error { return supported() }

// Cut does nothing.
func (*Network) Cut(testing.TB) {}

// Restore does nothing.
func (*Network) Restore(testing.TB) {}

func (*Network) enter() error { return nil }
func (*Network) port() string { return "" }
