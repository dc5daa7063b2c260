//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

// nobodyCommand is there on Unix alone; scripts ask [unix] first.
func nobodyCommand(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no such user here") }
