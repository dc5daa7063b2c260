// Package attack tries what a sandbox is to stop. Each attack is tried by a process of its own on a victim that is made for it: a
// project with a journal, a home folder, a process and services of the same user. What came of it is looked at from outside.
//
// The program that tries them is ferrus itself: [Main], called early in main, is the attack or the victim in a process that [Try] has
// started.
package attack

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
)

// An Attack is something that a command in a sandbox must not be able to do.
type Attack struct {
	Name    string                     // what is done: a verb with its object
	Through map[sandbox.Mechanism]bool // the mechanisms that do not stop it
	Network bool                       // a sandbox without a network stops it all the same
	Since   int                        // the version of Landlock that stops it first; 0: all that are used do
	Beside  int                        // the version of Landlock that bubblewrap needs beside it to stop it; 0: none

	try func(t target) error
}

// A Way is how an attack is tried.
type Way struct {
	Mechanism sandbox.Mechanism
	Landlock  int  // hold Landlock to this version, as in sandbox.Held
	Offline   bool // without a network
}

// Stopped reports whether the documentation says that an attack is stopped.
func (a Attack) Stopped(w Way) bool {
	if w.Mechanism == sandbox.None {
		return false
	}
	switch abi := sandbox.Held(w.Landlock); {
	case w.Mechanism == sandbox.Landlock && abi < a.Since:
		return false
	case w.Mechanism == sandbox.Bwrap && abi < a.Beside:
		return w.Offline && a.Network
	}
	return !a.Through[w.Mechanism] || w.Offline && a.Network
}

// A Result is what came of an attack.
type Result struct {
	Through bool   // it changed, read or reached something outside
	Why     string // what stopped it, as the system says it; "" if nothing is known
}

// Impossible reports whether an attack did not go through because the system has no such thing, or gives it to nobody.
func (r Result) Impossible() bool {
	for _, sign := range []string{"not permitted", "not implemented", "not supported"} {
		if !r.Through && strings.Contains(r.Why, sign) {
			return true
		}
	}
	return false
}

// word is the first argument of a process that is an attack or a victim.
const word = "__attack"
