// Package proc ends processes whole: a process with everything that it started, and everything that those started.
//
// A check and an agent run programs that nobody here has written. Whatever they leave behind (a server in the
// background, a child with a session of its own) must end with them. What the kernel offers for that differs: on Linux
// a subreaper and a death signal, on Windows a job, elsewhere the process group.
package proc
