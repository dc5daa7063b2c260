// Package proc ends a process completely: the process, everything that it started, and everything
// that those started.
//
// Checks and agents run arbitrary programs. What these leave behind, such as a server in the
// background or a child with a session of its own, must end with them. The means differ: on Linux a
// subreaper and a death signal, on Windows a job object, elsewhere the process group.
package proc
