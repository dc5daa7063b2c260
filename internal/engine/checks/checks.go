// Package checks runs the check commands of a project as a job.
//
// The commands run under a helper process: the same binary, started with [HelperArg]. The helper
// holds a lock and the read end of a pipe from its server. The pipe closes when the job is stopped
// or the server dies. Then the helper kills every process that it started and exits, so no check
// outlives the process that started it.
//
// The package does not know tasks, states, configuration or tools. Its callers decide whether a
// result is recorded, and what follows from it.
package checks

import (
	"fmt"
	"path"
	"path/filepath"
	"time"
)

// HelperArg is the hidden first argument with which a ferrus binary becomes the helper.
const HelperArg = "__checks"

// A Spec says what to run and where.
type Spec struct {
	Dir       string            // absolute path of the work tree in which every command runs
	Commands  []string          // run in order, all of them, by /bin/sh -c (cmd /C on Windows); nil is a gate error
	Timeout   time.Duration     // time limit of each command; 0 means none
	Env       map[string]string // added to the commands' environment, after EnvDeny
	EnvDeny   []string          // path.Match patterns of variable names taken out of Environ
	Environ   []string          `json:"-"` // what the commands' environment is made of, NAME=value; nil means this process's own
	Prefix    []string          // the command line by which each shell is started, such as that of a sandbox; nil for none
	Log       string            // absolute path of the log; an existing file is replaced
	MaxLog    int64             // bytes of output in the log, without headers; 0 means DefaultMaxLog
	TailLines int               // lines of feedback for each failing command; 0 means none
	TailAll   bool              // also for commands that pass
	Lock      string            // absolute path of the lock file held while the job runs; never removed
}

// DefaultMaxLog is the number of bytes of output in a log when the spec gives none.
const DefaultMaxLog = 8 << 20

// A Status is the verdict of a run.
type Status string

const (
	Passed Status = "passed" // every command exited with 0
	Failed Status = "failed" // a command exited with another status, died by a signal or passed its time limit

	// GateError means that the run proves nothing about the work tree. Reasons: a shell could not
	// start, a command was not found (127) or not executable (126), the log could not be written,
	// the run was stopped, or the helper vanished.
	GateError Status = "gate_error"
)

// A Command is the outcome of one command.
type Command struct {
	Line     string        `json:"command"`             // as configured
	ExitCode int           `json:"exit_code"`           // -1 when a signal ended it or it never started
	Signal   string        `json:"signal,omitempty"`    // such as SIGKILL, when a signal ended the shell
	TimedOut bool          `json:"timed_out,omitempty"` // it was killed at its time limit
	Duration time.Duration `json:"duration_ns"`
	Tail     string        `json:"tail,omitempty"` // last lines of the output, clean and bounded; see Spec.TailAll
}

// Passed reports whether the command ended by itself with exit status 0.
func (c Command) Passed() bool { return c.ExitCode == 0 && c.Signal == "" && !c.TimedOut }

// String describes in a few words how the command ended.
func (c Command) String() string {
	after := c.Duration.Round(time.Millisecond)
	switch {
	case c.TimedOut:
		return fmt.Sprintf("killed at its time limit after %v", after)
	case c.Signal != "":
		return fmt.Sprintf("ended by %s after %v", c.Signal, after)
	case c.ExitCode < 0:
		return "could not run"
	}
	return fmt.Sprintf("exit status %d after %v", c.ExitCode, after)
}

// A Result is the outcome of a run.
type Result struct {
	Status   Status        `json:"status"`
	Commands []Command     `json:"commands,omitempty"` // those that were reached, in order
	Err      string        `json:"error,omitempty"`    // why it is a gate error, and the remedy; else empty
	Duration time.Duration `json:"duration_ns"`
}

// Failures returns the commands that did not pass, in order.
func (r Result) Failures() []Command {
	var failed []Command
	for _, c := range r.Commands {
		if !c.Passed() {
			failed = append(failed, c)
		}
	}
	return failed
}

func (s Spec) validate() error {
	for _, p := range []struct{ name, path string }{{"work tree", s.Dir}, {"log", s.Log}, {"lock", s.Lock}} {
		if !filepath.IsAbs(p.path) {
			return fmt.Errorf("%s %q is not an absolute path", p.name, p.path)
		}
	}
	for _, pattern := range s.EnvDeny {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("env_deny pattern %q is malformed: correct [checks] env_deny in ferrus.toml", pattern)
		}
	}
	return nil
}
