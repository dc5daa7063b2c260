package status

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Escape sequences that redraw a screen without a flicker.
const (
	screenTop  = "\x1b[H"
	lineRest   = "\x1b[K\r\n"
	ScreenRest = "\x1b[J"
)

// watchTask shows the status whenever the store changes, until ctx ends. On a terminal it draws over what it drew
// before; elsewhere it prints only what is new.
func watchTask(a *cli.App, ctx context.Context, e *engine.Engine) error {
	watch := e.Store().Watch()
	defer watch.Close()
	var seen uint64
	if a.OutTTY && !a.JSON {
		if _, err := a.Out.Write([]byte(screenTop + ScreenRest)); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		r, err := status.ReadAll(e)
		if err != nil {
			return err
		}
		if a.OutTTY && !a.JSON {
			err = redraw(a, r)
		} else if first || r.Seq != seen {
			err = appendReport(a, r, !first)
		}
		if err != nil {
			return err
		}
		seen = r.Seq
		select {
		case <-watch.C:
		case <-ctx.Done():
			return a.Interrupted(ctx)
		}
	}
}

// redraw draws the status over what stood there, as much of it as fits into the terminal.
func redraw(a *cli.App, r *status.Report) error {
	var frame bytes.Buffer
	drawn := *a
	drawn.Out = &frame
	drawn.ShowReport(r)
	lines := strings.Split(strings.TrimRight(frame.String(), "\n"), "\n")
	if _, rows := a.Size(); len(lines) > rows {
		more := len(lines) - rows + 1
		lines = append(lines[:rows-1], fmt.Sprintf("… %d more lines: ferrus status", more))
	}
	_, err := a.Out.Write([]byte(screenTop + strings.Join(lines, lineRest) + ScreenRest))
	return err
}

// appendReport prints the status below what stood there.
func appendReport(a *cli.App, r *status.Report, gap bool) error {
	if a.JSON {
		return a.PrintJSONLine(r)
	}
	if gap {
		a.Say("\n")
	}
	a.ShowReport(r)
	return nil
}
