//go:build linux

package main

import "context"

// An adapter is all that is known of a system.
type adapter struct {
	name string
	// about says in a sentence how the system was set up.
	about string
	// prepare makes a project in the folder of the world, which is a git repository with one commit, and adds the tasks.
	prepare func(context.Context, *world) error
	// mains are the programs that a manager of services keeps running: one, or one for each computer, or also a server.
	mains func(*world) []*service
	// states says how each task stands.
	states func(context.Context, *world) (map[int]state, error)
	// help does what a person would do who is asked about a task, or finds that nothing moves (task 0).
	help func(context.Context, *world, int) error
	// collect brings the work that is done into the project, in the end; nil where it is there.
	collect func(context.Context, *world) error
	// class says what a process of the system is, by its command line; "" for one that is not killed on its own.
	class func(line string) string
	// without names the measures, as in the table, of which the system has no notion.
	without []string
}

// A state is how a task stands.
type state int

const (
	waiting state = iota // or somebody works on it
	asking               // the system says that a person must do something
	failed               // the system says that it failed, and why
	done
)

// The classes of what is killed.
const (
	agents     = "agent"
	servers    = "server"
	conductors = "conductor"
	checks     = "check"
	computers  = "computer" // all that runs on one of several, which is off for a while
	everything = "everything"
)

// adapters are the systems that are measured, in the order of the table.
var adapters = []adapter{ferrus, ferrusClients, ferrusOn(2), ferrusOn(3), loop, loopClaude, beads, backlog, taskMaster, langGraph, temporal}
