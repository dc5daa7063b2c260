package log

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// ShowCommand is ferrus show.
func ShowCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ | TASK-ID",
		Short: "Show one event with its documents, or a task that is over",
		Long: `Shows the entry SEQ of "ferrus log": who, when, what, and every document that it
wrote. With the id of a task that "ferrus history" lists, shows its log and the
newest text of each of its documents.`,
		Example: `  ferrus show 12
  ferrus show t-20261128-055305-4eff5691
  ferrus show 12 --json`,
		Annotations: cli.Reference("", `the line of the journal: v seq at actor event from to epoch req note docs state
prev h. Of a task: branch removed task_id title state at error timeline
documents.`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if state.ValidTaskID(args[0]) {
				return showPast(a, cmd.Context(), args[0])
			}
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || seq == 0 {
				return cli.UsageError("ferrus log{branch} lists the events", "%q is not the number of an event", args[0])
			}
			return showEvent(a, cmd.Context(), seq)
		},
	}
}

func showEvent(a *cli.App, ctx context.Context, seq uint64) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	l, err := event(e, seq)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(struct {
			*store.Line
			H string `json:"h"`
		}{l, l.H})
	}
	a.Say("%s %d   %s\n", a.Paint(cli.Bold, string(l.Event)), l.Seq, l.At.Local().Format(time.RFC3339))
	by := l.Actor.Agent + " (" + string(l.Actor.Role) + ")"
	if l.Actor.TTY {
		by += "   at a terminal"
	}
	if how := l.Actor.How(); how != "" {
		by += "   " + how
	}
	a.ShowRow("by", by)
	if l.Actor.Session != "" {
		a.ShowRow("session", l.Actor.Session)
	}
	if l.Actor.Tree != "" {
		a.ShowRow("processes", format.Line(l.Actor.Tree))
	}
	a.ShowRow("state", string(l.From)+" → "+string(l.To))
	a.ShowRow("task", l.State.TaskID+"  "+format.Line(l.State.Title))
	a.ShowRow("epoch", strconv.FormatUint(l.Epoch, 10))
	if l.Note != "" {
		a.ShowRow("note", l.Note)
	}
	a.ShowRow("hash", l.H)
	for _, doc := range slices.Sorted(maps.Keys(l.Docs)) {
		a.Say("\n%s\n%s\n", a.Paint(cli.Bold, string(doc)), format.Frame(l.Docs[doc], "  "))
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
	return nil, cli.Refuse(refusal.WrongState, fmt.Sprintf("there is no event %d; the newest is %d", seq, last), "ferrus log{branch} lists them")
}
