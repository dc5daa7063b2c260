package review

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

// maxPatch is how much of a patch is read.
const maxPatch = 16 << 20

// errLong ends a patch that is too long.
var errLong = errors.New("the patch is too long")

// A limited writer keeps the first bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxPatch {
		return 0, errLong
	}
	return l.Buffer.Write(p)
}

// A Patch is one that was read. That of a submission does not change.
type Patch struct {
	Files  []patch.File
	Cut    bool   // it is longer than what is read of it
	Hidden string // the notice about hidden characters, "" for none

	mu    sync.Mutex
	drawn map[int]any // by the index of the file
}

// Drawn is what draw makes of a file, which is made once.
func (p *Patch) Drawn(i int, draw func(*patch.File) any) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn[i] == nil {
		p.drawn[i] = draw(&p.Files[i])
	}
	return p.drawn[i]
}

// readFrom reads the patch that write writes, up to maxPatch.
func readFrom(write func(io.Writer) error) (*Patch, error) {
	var text limited
	var hidden handover.Hidden
	err := write(io.MultiWriter(&text, &hidden))
	cut := errors.Is(err, errLong)
	if err != nil && !cut {
		return nil, err
	}
	return &Patch{Files: patch.Parse(text.String()), Cut: cut, Hidden: hidden.Notice(), drawn: map[int]any{}}, nil
}

// A Reader reads what a person reviews in a project. It remembers the patches that were read last, and may be used by several goroutines.
type Reader struct {
	Store

	mu      sync.Mutex
	patches map[[2]string]*Patch // by the trees that they compare
}

// NewReader returns a reader of the project whose .ferrus is home.
func NewReader(home string) *Reader {
	return &Reader{Store: Store{Home: home}, patches: map[[2]string]*Patch{}}
}

// maxPatches bounds how many patches are remembered, each of at most maxPatch.
const maxPatches = 4

// patch reads the patch of a task since a tree, "" for its base, or takes the one of the same submission that was read before.
func (r *Reader) patch(ctx context.Context, e *engine.Engine, since string) (*Patch, error) {
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	var trees [2]string
	if now.Task.Submitted() {
		trees = [2]string{cmp.Or(since, now.Task.BaseTree), now.Task.Submission.Tree}
	}
	r.mu.Lock()
	p := r.patches[trees]
	r.mu.Unlock()
	if p != nil {
		return p, nil
	}
	if p, err = readFrom(func(w io.Writer) error { return status.WriteDiff(ctx, e, since, w) }); err != nil {
		return nil, err
	}
	after, err := e.View()
	if err != nil {
		return nil, err
	}
	if trees[1] != "" && !p.Cut && after.Task.Seq == now.Task.Seq {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.patches) >= maxPatches {
			clear(r.patches)
		}
		r.patches[trees] = p
	}
	return p, nil
}
