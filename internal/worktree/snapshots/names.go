// Package snapshots saves the files of a task at its entries, as trees below refs/ferrus, and names them.
package snapshots

import (
	"strconv"
	"strings"
)

// Unassigned stands in a name where there is no task.
const Unassigned = "@idle"

// Entry returns the number of the entry under which a tree is saved.
func Entry(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '/')+1:], 10, 64)
	return n, err == nil
}

// Name returns the name under which something of a task is saved, what "" for all of it. branch is "" for the project's own machine.
func Name(branch, task, what string) string {
	name := task
	if branch != "" {
		name = branch + "/" + task
	}
	if what != "" {
		name += "/" + what
	}
	return name
}
