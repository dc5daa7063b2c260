//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

func enter(order, []string) error { return errNoMechanism() }

// Probe reports whether a mechanism holds here. On this system only None does.
func Probe(_ context.Context, m Mechanism, _ string) error {
	if m == None {
		return nil
	}
	return errNoMechanism()
}

func errNoMechanism() error { return errors.New("no sandbox is built on " + runtime.GOOS) }

// Leader is the process itself here.
func Leader(_ Mechanism, pid int) int { return pid }

// System is the zero policy here.
func System() Policy { return Policy{} }

// Held is 0 here.
func Held(int) int { return 0 }

// LandlockVersion is 0 here.
func LandlockVersion() int { return 0 }
