package store

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Snapshot is the machine at one moment.
type Snapshot struct {
	Task    state.Task
	Lease   Lease
	Journal Position
	Top     *Line // the newest line; nil in a fresh project
	Files   Copy  // the newest of the task's files; zero in files of one computer
}

// A Copy says where the newest files of a task are, in a store that several computers share: in the work tree of the computer where the newest tree
// was made that the state names, or where work was claimed after that.
type Copy struct {
	Host   string // that computer; "" if nobody knows
	Here   bool   // it is this one
	Seq    uint64 // of the line since which that is so: it named a tree, or claimed the work
	Commit string // by which another computer has handed them over as they are; "" if it has not
}

// Elsewhere reports whether the work tree of another computer has the files.
func (c Copy) Elsewhere() bool { return c.Host != "" && !c.Here }

// A Lease is the volatile part of a lease. A renewal rewrites it without a journal line.
type Lease struct {
	Term      lease.Term
	Until     time.Time // wall clock, for display
	Heartbeat time.Time // the last renewal, likewise
}

// A Position says how much of the journal a generated file covers.
type Position struct {
	Bytes int64  `json:"bytes"` // the journal's size; the next line starts here
	Last  int64  `json:"last"`  // where the newest line starts
	H     string `json:"h"`     // the newest line's hash
}

// At returns the snapshot right after a line; nil stands for the time before the first line.
func At(top *Line) Snapshot {
	if top == nil {
		return Snapshot{Task: state.New()}
	}
	return Snapshot{Task: top.State, Top: top, Journal: Position{Bytes: top.End, Last: top.Off, H: top.H}}
}
