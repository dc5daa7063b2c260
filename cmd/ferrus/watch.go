package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
)

// Escape sequences that redraw a screen without a flicker.
const (
	screenTop  = "\x1b[H"
	lineRest   = "\x1b[K\r\n"
	screenRest = "\x1b[J"
)

// watch shows the status whenever the store's bell rings, until ctx ends. On a terminal it draws over what it drew
// before; elsewhere it prints only what is new.
func (a *app) watch(ctx context.Context, e *engine.Engine) error {
	bell := e.Store().Watch()
	defer bell.Close()
	var seen uint64
	if a.outTTY && !a.json {
		if _, err := a.out.Write([]byte(screenTop + screenRest)); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		r, err := gather(e)
		if err != nil {
			return err
		}
		if a.outTTY && !a.json {
			err = a.redraw(r)
		} else if first || r.Seq != seen {
			err = a.append(r, !first)
		}
		if err != nil {
			return err
		}
		seen = r.Seq
		select {
		case <-bell.C:
		case <-ctx.Done():
			return a.left(ctx)
		}
	}
}

// redraw draws the status over what stood there, as much of it as the terminal has room for.
func (a *app) redraw(r *report) error {
	var frame bytes.Buffer
	drawn := *a
	drawn.out = &frame
	drawn.showReport(r)
	lines := strings.Split(strings.TrimRight(frame.String(), "\n"), "\n")
	if _, rows := a.size(); len(lines) > rows {
		more := len(lines) - rows + 1
		lines = append(lines[:rows-1], fmt.Sprintf("… %d more lines: ferrus status", more))
	}
	_, err := a.out.Write([]byte(screenTop + strings.Join(lines, lineRest) + screenRest))
	return err
}

// append prints the status below what stood there.
func (a *app) append(r *report, gap bool) error {
	if a.json {
		return a.printLine(r)
	}
	if gap {
		a.say("\n")
	}
	a.showReport(r)
	return nil
}
