package main

import "strings"

// A Rig is a test that tries to break a promise, with the mutants that show that it would notice.
type Rig struct {
	Name    string
	Promise string // what it tries to break
	Package string // where its test stands, from the root: ./internal/store
	Test    string // the name of the test, or of the fuzz target
	Needs   string // what a machine must have for it beyond Go and git; "" for nothing

	mutants []Mutant
}

// fact sets a fact of the rig, from a line of its section, and reports whether there is such a fact.
func (r *Rig) fact(key, value string) bool {
	switch key {
	case "promise:":
		r.Promise = value
	case "test:":
		var folder string
		folder, r.Test, _ = strings.Cut(value, " ")
		r.Package = "./" + folder
	case "needs:":
		r.Needs = value
	default:
		return false
	}
	return true
}
