//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A tracker is where the agent of a loop finds its tasks.
type tracker struct {
	// take says which task is next, and marks it as begun where the tracker has such a mark; no id if all are done.
	take func() (id, text string, err error)
	// done ticks it off.
	done func(id string) error
}

// trackers are by the name of the act of an agent that uses them.
var trackers = map[string]tracker{
	"ralph":             {takeTodo, tickTodo},
	"ralph-beads":       {takeBead, closeBead},
	"ralph-backlog":     {takeBacklog, doneBacklog},
	"ralph-task-master": {takeMaster, doneMaster},
}

// complete is what an agent prints that finds nothing to do, by which its loop ends.
const complete = "COMPLETE"

// turn is one turn of a loop: the agent takes a task, does it, runs the check, ticks the task off and commits.
func turn(t tracker, r record) error {
	id, line, err := t.take()
	if err != nil {
		return err
	}
	if id == "" {
		_, err := fmt.Println(complete)
		return err
	}
	if err := workOn(r, strings.NewReader(line)); err != nil {
		return err
	}
	if err := check(r); err != nil {
		return err
	}
	if err := t.done(id); err != nil {
		return err
	}
	return commit(line)
}

// finish checks and commits what was done for a task, where an agent does not do it.
func finish(r record, in io.Reader) error {
	line, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if err := check(r); err != nil {
		return err
	}
	return commit(string(line))
}

// commits is the shell command that commits all that has changed.
const commits = `git add -A && { git diff --cached --quiet || git commit -qm "$0"; }`

// commit commits all that has changed. If it finds the lock of one that was killed, it removes it, as models do.
func commit(message string) error {
	once := func() error { return exec.Command("sh", "-c", commits, message).Run() }
	if once() == nil {
		return nil
	}
	time.Sleep(think)
	if err := os.Remove(".git/index.lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return once()
}

// tell runs a command of a tracker and returns its output.
func tell(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s%s", name, args, err, out, stderr.String())
	}
	return out, nil
}
