package main

// A Rig is a test that tries to break a promise. The folder mutants has the mutants that show that it would notice.
type Rig struct {
	Name    string
	Promise string // what it tries to break
	Package string // where its test stands, from the root: ./internal/store
	Test    string // the name of the test, or of the fuzz target
	Needs   string // what a machine must have for it beyond Go and git; "" for nothing
	Bite    string // the flag that the mutants are run with; "" is -short
	Plain   bool   // the test reports nothing: its subtests are the cases, or it is one itself
}
