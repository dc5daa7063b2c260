package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/store"
)

func showCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ",
		Short: "One event, whole, with the documents that it wrote",
		Long: `Shows the event with that number in ferrus log: who, when, what, and every document that it wrote.

With --json the line of the journal as it stands there: v seq at actor event from to epoch req note docs state prev h.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || seq == 0 {
				return usage("ferrus log lists the events", "%q is no number of an event", args[0])
			}
			return a.show(cmd.Context(), seq)
		},
	}
}

func (a *app) show(ctx context.Context, seq uint64) error {
	e, err := a.look(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	l, err := event(e, seq)
	if err != nil {
		return err
	}
	if a.json {
		return a.print(struct {
			*store.Line
			H string `json:"h"`
		}{l, l.H})
	}
	a.say("%s %d   %s\n", a.paint(bold, string(l.Event)), l.Seq, l.At.Local().Format(time.RFC3339))
	tty := ""
	if l.Actor.TTY {
		tty = "   at a terminal"
	}
	a.row("by", l.Actor.Agent+" ("+string(l.Actor.Role)+")"+tty)
	if l.Actor.Session != "" {
		a.row("session", l.Actor.Session)
	}
	if l.Actor.Tree != "" {
		a.row("processes", line(l.Actor.Tree))
	}
	a.row("state", string(l.From)+" → "+string(l.To))
	a.row("task", l.State.TaskID+"  "+line(l.State.Title))
	a.row("epoch", strconv.FormatUint(l.Epoch, 10))
	if l.Note != "" {
		a.row("note", l.Note)
	}
	a.row("hash", l.H)
	for _, doc := range slices.Sorted(maps.Keys(l.Docs)) {
		a.say("\n%s\n%s\n", a.paint(bold, string(doc)), framed(l.Docs[doc], "  "))
	}
	return nil
}

// event finds an event by its number.
func event(e *engine.Engine, seq uint64) (*store.Line, error) {
	l, err := e.Store().LineOf(seq)
	if l != nil || err != nil {
		return l, err
	}
	last := uint64(0)
	for l, err := range e.Store().Newest(1) {
		if err != nil {
			return nil, err
		}
		last = l.Seq
	}
	return nil, refuse(engine.WrongState, fmt.Sprintf("there is no event %d; the newest is %d", seq, last), "ferrus log lists them")
}
