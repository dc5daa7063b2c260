package process

import (
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// A Tail follows the output of a run.
type Tail struct {
	*agents.Reader
	log string
	off int64 // start of the unread output
}

// Tail returns a tail of the run that starts at the beginning of its output.
func (r Run) Tail() *Tail { return &Tail{Reader: agents.ReaderOf(r.Agent), log: r.Log} }

// maxTail is how much of a log is read at a time. Of more output only the end is read.
const maxTail = 64 << 20

// More reads the output since the last call. Errors of reading are ignored.
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

// Read returns what the run's output reports so far. Errors of reading are ignored.
func Read(r Run) agents.Reading {
	t := r.Tail()
	t.More()
	t.End()
	return t.Reading
}
