package main

import (
	"context"
	"io"
)

// An interruptible is a reader whose reads end with a context, with its cause as the error. What is being read then is lost.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := r.from.Read(text)
		read <- result{text[:n], err}
	}()
	select {
	case got := <-read:
		return copy(p, got.text), got.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}
