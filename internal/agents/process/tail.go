package process

import (
	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Tail follows the output of a run.
type Tail struct {
	*agents.Reader
	Behind bool // the last call of More has left output unread

	log string
	off int64 // start of the unread output
}

// Tail returns a tail of the run that starts at the beginning of its output.
func (r Run) Tail() *Tail { return &Tail{Reader: agents.ReaderOf(r.Agent), log: r.Log} }

const (
	// maxTail is how much of a log is read. Of more output only the end is read.
	maxTail = 64 << 20
	// maxTurn is how much of it is read at a time: a caller has other things to look at, too.
	maxTurn = 4 << 20
)

// More reads the output since the last call, at most a few megabytes of it: see Behind. Errors of
// reading are ignored.
func (t *Tail) More() {
	t.Behind = false
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
	for piece, until := make([]byte, 64<<10), t.off+maxTurn; err == nil; {
		if t.off >= until {
			t.Behind = true
			return
		}
		var n int
		n, err = f.ReadAt(piece, t.off)
		t.off += int64(n)
		t.Skim(piece[:n])
	}
}

// Read returns what the run's output reports so far. Errors of reading are ignored.
func Read(r Run) agents.Reading {
	t := r.Tail()
	for t.Behind = true; t.Behind; {
		t.More()
	}
	t.End()
	return t.Reading
}
