// Package proc ends a process completely: the process, everything that it started, and everything
// that those started.
//
// Checks and agents run arbitrary programs. What these leave behind, such as a server in the
// background or a child with a session of its own, must end with them. The means differ: on Linux a
// subreaper and a death signal, on Windows a job object, elsewhere the process group.
//
// The package also inspects the processes above this one, for an agent of a project and for the
// process tree that a decision comes from (ancestry.go). A parent can change the environment of a
// process, but not the chain of processes above it. A process whose parent has exited, or that a
// daemon starts on request, does not descend from the agent that asked for it. So the result is an
// obstacle and a record, not a guarantee.
package proc
