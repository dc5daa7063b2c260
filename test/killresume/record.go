//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An event is a line of the record of a run.
type event struct {
	At   time.Duration `json:"at"` // of the monotonic clock, which all processes share
	Kind kind          `json:"kind"`
	Task int           `json:"task,omitempty"`
	Pid  int           `json:"pid,omitempty"`
	Hash string        `json:"hash,omitempty"` // checked: of the file of the task
	What string        `json:"what,omitempty"` // killed: the class; astray: the mood
}

type kind string

const (
	begun    kind = "begun"    // an agent begins or continues a task
	stepped  kind = "stepped"  // it has written a line
	ended    kind = "ended"    // it believes that the task is done
	astray   kind = "astray"   // it does something else instead, What
	overlaps kind = "overlaps" // it began while another was at the same task
	checked  kind = "checked"  // the check found the file of the task right
	killed   kind = "killed"   // the killer has struck
	started  kind = "started"  // the main program was started
	accepted kind = "accepted" // the system says that the task is done
	helped   kind = "helped"   // a person did what the system asked for, or woke it
)

// A record is the folder of a run in which events are kept, outside of the project.
type record string

func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// add writes an event with one write, so that a process that is killed leaves a whole line or none.
func (r record) add(e event) error {
	e.At = now()
	if e.Pid == 0 {
		e.Pid = os.Getpid()
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(string(r), "events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}

// events are all that were added.
func (r record) events() (all []event, err error) {
	f, err := os.Open(filepath.Join(string(r), "events.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// hold takes the lock of a task for the life of this process; alone is false while another agent has it.
func (r record) hold(task int) (alone bool, err error) {
	f, err := os.OpenFile(filepath.Join(string(r), "task-"+strconv.Itoa(task)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	held = append(held, f)
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// held keeps the locks from being collected.
var held []*os.File

// size grows with each event.
func (r record) size() (int64, error) {
	info, err := os.Stat(filepath.Join(string(r), "events.jsonl"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
