package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

func logCommand(a *app) *cobra.Command {
	var newest int
	var durations bool
	cmd := &cobra.Command{
		Use:   "log [-n N]",
		Short: "What happened, one line an event",
		Long: `Prints the journal, oldest first: sequence number, time, actor, event, from where to where, and what there is to say.
Every line shown is checked against its hash and the one before; at an altered one it stops with exit code 8. What a rollback
has left behind is marked with ┆; ferrus rollback can return to it as well. ├─ is a branch that goes on by itself from
there; in the log of a branch │ is what it shares with where it comes from.

With --json one object a line: seq at actor{role agent session tty} event from to epoch note, of a rollback
back, abandoned of what one has left behind, branches[] that leave there, and shared.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if newest < 0 {
				return usage("ferrus log -n 20", "-n %d is no number of events", newest)
			}
			return a.log(cmd.Context(), newest, durations)
		},
	}
	cmd.Flags().IntVarP(&newest, "number", "n", 0, "only the newest `N` events")
	cmd.Flags().BoolVar(&durations, "durations", false, "how long after the event before")
	return cmd
}

// A past is an event with what its line in the log needs of the one before.
type past struct {
	*store.Line
	before   time.Time // zero for the first
	from     string    // who held the work
	rejected string    // how many of how many, for what spends a budget
	left     bool      // a rollback has left it behind
	shared   bool      // it is of before the branch was made
}

func (a *app) log(ctx context.Context, newest int, durations bool) error {
	e, err := a.look(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	list, damage := history(e, newest)
	share(list, e.Place().Branch)
	leaving := forks(e)
	day := time.Now().Format(time.DateOnly)
	for _, p := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.json {
			l := p.lineJSON()
			p.marks(l, leaving[p.H])
			if err := a.printLine(l); err != nil {
				return err
			}
			continue
		}
		if d := p.At.Local().Format(time.DateOnly); d != day {
			a.say("%s\n", a.paint(dim, "      "+d))
			day = d
		}
		a.event(p, durations)
		a.leaves(leaving[p.H])
	}
	if len(list) == 0 && damage == nil && !a.json {
		a.say("nothing has happened yet\n")
	}
	return damage
}

// history reads the newest events, all for 0, up to the first one that is not valid. What it does not read it does not check.
func history(e *engine.Engine, newest int) ([]past, error) {
	var list []past
	var before time.Time
	var from string
	lines := e.Store().History()
	if newest > 0 {
		lines = e.Store().Newest(newest + 1) // one more, for what the first of them says about the one before
	}
	for l, err := range lines {
		if err != nil {
			return list, err
		}
		p := past{Line: l, before: before, from: from}
		if l.Event == state.CheckFailed || l.Event == state.Reject {
			if gate, err := e.Gate(store.Snapshot{Task: l.State, Top: l}); err == nil {
				p.rejected = spent(l, gate.Limits.MaxCheckRetries, gate.Limits.MaxReviewCycles)
			}
		}
		list = append(list, p)
		if newest > 0 && len(list) > newest {
			list = list[1:]
		}
		before, from = l.At, l.State.ClaimedBy
	}
	shown := make([]*store.Line, len(list))
	for i, p := range list {
		shown[i] = p.Line
	}
	for i, left := range store.Abandoned(shown) {
		list[i].left = left
	}
	return list, nil
}

// spent says how much of its budget an event has used up.
func spent(l *store.Line, checks, reviews int) string {
	switch l.Event {
	case state.CheckFailed:
		return fmt.Sprintf("%d of %d", l.State.CheckRetries, checks)
	case state.Reject:
		return fmt.Sprintf("%d of %d", l.State.ReviewCycles, reviews)
	}
	return ""
}

func (a *app) event(p past, durations bool) {
	took := ""
	if durations {
		took = fmt.Sprintf("%8s", "")
		if !p.before.IsZero() {
			took = fmt.Sprintf("%8s", "+"+span(p.At.Sub(p.before)))
		}
	}
	moved := ""
	if p.From != p.To {
		moved = fmt.Sprintf("%s → %s", p.From, p.To)
	}
	who := fmt.Sprintf("%-25s", line(p.Actor.Agent))
	text := fmt.Sprintf("%-16s %-28s %s", p.Event, moved, p.note())
	gutter, colour := p.gutter()
	a.say("%4d%s %s%s  %s %s\n", p.Seq, gutter, clock(p.At), took, a.paint(colour, who), strings.TrimRight(text, " "))
}

// note is what there is to say about an event beside its move.
func (p past) note() string {
	note := line(p.Note)
	switch p.Event {
	case state.Claim:
		return fmt.Sprintf("epoch %d%s", p.Epoch, because(p.from, note))
	case state.CreateTask, state.Answer, state.RespondConsult, state.Approve, state.Reopen, state.Select, state.MergeBegun, state.AskHuman, state.Consult:
		note = quoted(note)
	case state.Merge:
		if p.State.Branch == "" {
			note = quoted(note)
		}
	case state.Steer:
		note = quoted(clip(note, engine.MaxLine))
	case state.Reject:
		note = p.State.Submission.ID + "  " + quoted(note)
	case state.Submit:
		note = p.State.Submission.ID
	case state.CheckStarted:
		note = p.State.Check.ID
	case state.RollbackBegun, state.Rollback:
		note = fmt.Sprintf("to %d, epoch %d  %s", p.Back, p.Epoch, quoted(note))
	case state.Release, state.Reset:
		note = strings.TrimSpace(fmt.Sprintf("epoch %d  %s", p.Epoch, quoted(note)))
	}
	if id := p.id(); id != "" {
		note = strings.TrimSpace(id + "  " + note)
	}
	if p.rejected != "" {
		note += "   " + p.rejected
	}
	if p.Actor.Role == state.Human && !p.Actor.TTY {
		note = strings.TrimSpace(note + "   (without a terminal)")
	}
	return strings.TrimSpace(note + fromTree(line(p.Actor.Tree)))
}

// id is what the event was about, where its note does not say it.
func (p past) id() string {
	t := p.State
	switch p.Event {
	case state.AskHuman:
		return t.Top().ID
	case state.Consult, state.RespondConsult:
		return t.Consultation.ID
	case state.Answer:
		if n := len(t.Decisions); n > 0 {
			return t.Decisions[n-1].ID
		}
	}
	return ""
}

func because(from, why string) string {
	switch {
	case from != "":
		return ", taken from " + from + ": " + cmp.Or(why, "it was gone")
	case why != "":
		return ", " + why
	}
	return ""
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}

// lineJSON is an event without its documents and the state.
func (p past) lineJSON() map[string]any {
	l := map[string]any{"seq": p.Seq, "at": p.At, "actor": p.Actor, "event": p.Event, "from": p.From, "to": p.To, "epoch": p.Epoch, "note": p.Note}
	if p.Back != 0 {
		l["back"] = p.Back
	}
	return l
}
