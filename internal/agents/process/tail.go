package process

import (
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// A Tail follows what a run prints.
type Tail struct {
	*agents.Reader
	log string
	off int64 // of what is not read yet
}

// Tail returns a tail of the run, of which nothing is read yet.
func (r Run) Tail() *Tail { return &Tail{Reader: agents.ReaderOf(r.Agent), log: r.Log} }

// maxTail is how much of a log is read at a time. Of more, which no agent prints, the end is read.
const maxTail = 64 << 20

// More reads what the run has printed since it was last asked; what cannot be read says nothing.
func (t *Tail) More() {
	r, name, err := rootfs.For(t.log)
	if err != nil {
		return
	}
	defer r.Close()
	f, err := r.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		t.off = max(t.off, info.Size()-maxTail)
	}
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
