package slot

import (
	"os"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A Tail follows what a run prints.
type Tail struct {
	*agents.Reader
	log string
	off int64 // of what is not read yet
}

// Tail returns a tail of the run, of which nothing is read yet.
func (r Run) Tail() *Tail { return &Tail{Reader: agents.ReaderOf(r.Agent), log: r.Log} }

// More reads what the run has printed since it was last asked; what cannot be read says nothing.
func (t *Tail) More() {
	f, err := os.Open(t.log)
	if err != nil {
		return
	}
	defer f.Close()
	for piece := make([]byte, 64<<10); err == nil; {
		var n int
		n, err = f.ReadAt(piece, t.off)
		t.off += int64(n)
		t.Feed(piece[:n])
	}
}

// Read reads what the run's output says so far; what cannot be read says nothing.
func Read(r Run) agents.Reading {
	t := r.Tail()
	t.More()
	t.End()
	return t.Reading
}
