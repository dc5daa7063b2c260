//go:build !linux

package attack

import (
	"context"
	"errors"
	"runtime"
)

type target struct{}

// All returns the attacks. On this system there is none.
func All() []Attack { return nil }

// Main returns at once.
func Main() {}

// Try tries nothing on this system.
func Try(context.Context, Attack, Way, string) (Result, error) {
	return Result{}, errors.New("no sandbox is built on " + runtime.GOOS)
}
