//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// ttyCommand is there on Linux alone; scripts ask [linux] first.
func ttyCommand(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminal to be had here")
}
