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
}

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
