//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// outlive lets this process go on when its terminal is closed, or when whoever read its output is gone: a run is left
// alone overnight. Handled, not ignored, which its agents would inherit.
func outlive() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
}
