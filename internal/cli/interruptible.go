package cli

import (
	"context"
	"io"
)

// An Interruptible is a reader whose reads end with a context, with its cause as the error. What is being read then is lost.
type Interruptible struct {
	Ctx  context.Context
	From io.Reader
}

// Read reads as the reader below does, until the context ends.
func (r Interruptible) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := r.From.Read(text)
		read <- result{text[:n], err}
	}()
	select {
	case got := <-read:
		return copy(p, got.text), got.err
	case <-r.Ctx.Done():
		return 0, context.Cause(r.Ctx)
	}
}
