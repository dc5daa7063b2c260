package task

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// ContextCommand is ferrus context.
func ContextCommand(a *cli.App) *cobra.Command {
	var role, seq string
	cmd := &cobra.Command{
		Use:   "context [--role ROLE] [--at SEQ]",
		Short: "Show what an agent reads about the task",
		Long: `Shows the answer that an agent gets when it asks for work: an executor from
wait_for_task, a supervisor from wait_for_review. Without --role it is the role
that the task waits for. Nothing is claimed. With --at it is the answer right
after entry SEQ of "ferrus log".`,
		Example: `  ferrus context
  ferrus context --role supervisor
  ferrus context --at 12 --json`,
		Annotations: cli.Reference(`With --at, documents, decisions and notes are those of that time. The diffstat
is of the tree of the newest check of that time. Facts of the present are left
out: which agents are alive, and where ferrus.toml differs.`, `the result of the tool as in [tools](tools.md), without claim, and without lease
if none is active.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at := uint64(0)
			if seq != "" {
				var err error
				if at, err = strconv.ParseUint(seq, 10, 64); err != nil || at == 0 {
					return cli.UsageError("ferrus log{branch} lists the events", "%q is not the number of an event", seq)
				}
			}
			switch r := state.Role(role); r {
			case "", state.Executor, state.Supervisor:
				return showContext(a, cmd.Context(), r, at)
			}
			return cli.UsageError("ferrus context{branch} --role executor, or --role supervisor", "%q is not a role of an agent", role)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "`ROLE` of the agent: executor or supervisor")
	cmd.Flags().StringVar(&seq, "at", "", "show it as it was right after entry `SEQ`")
	return cmd
}

func showContext(a *cli.App, ctx context.Context, role state.Role, seq uint64) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	m, err := e.Moment(seq)
	if err != nil {
		return err
	}
	if role == "" {
		role = awaitedRole(m.Task)
	}
	r, err := tools.Preview(ctx, e, m, role)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	when := "now"
	if m.Past {
		when = fmt.Sprintf("after event %d, %s", seq, m.Top.At.Local().Format(time.DateTime))
	}
	a.Say("%s  %s   %s\n%s\n", a.Paint(cli.Bold, string(role)), a.Paint(cli.ColourOf(r.State), string(r.State)), a.Paint(cli.Dim, when), format.Line(r.Message))
	a.Say("next  %s   %s\n", a.Paint(cli.Bold, r.Next), a.Paint(cli.Dim, "of "+strings.Join(r.Allowed, ", ")))
	for _, n := range r.Notices {
		a.ShowRow("notice", a.Paint(cli.Yellow, format.Line(n)))
	}
	for _, p := range passages(r) {
		if p.text != "" {
			a.Say("\n%s\n%s\n", a.Paint(cli.Bold, p.heading), format.Frame(p.text, "  "))
		}
	}
	return nil
}

// awaitedRole is the role of the agent that a task waits for, the executor where it waits for none.
func awaitedRole(t state.Task) state.Role {
	if state.WaitingFor(t).For == "supervisor" {
		return state.Supervisor
	}
	return state.Executor
}

// A passage is a part of what an agent is given.
type passage struct{ heading, text string }

// passages are what there is to read in a result, in the order of reading.
func passages(r tools.Result) []passage {
	return []passage{
		{"Message from the person", strings.Join(r.FromThePerson, "\n\n")},
		{"Task " + r.TaskID, r.Task},
		{"Consultation " + r.ConsultationID, r.Consultation},
		{"Submission " + r.SubmissionID, r.Submission},
		{"The previous review", r.Review},
		{"Check", r.Check},
		{"Last check", lastCheckText(r.LastCheck)},
		{"Decisions of a person", joined(r.Decisions, func(d handover.Decision) string {
			return d.ID + "  " + strings.TrimSpace(d.Question) + "\n→ " + d.By + ": " + d.Answer
		})},
		{"Messages of agents", joined(r.Messages, func(m handover.Message) string {
			return m.At.Local().Format(time.DateTime) + "  " + m.From + ": " + m.Text
		})},
		{"Answers of the supervisor", joined(r.Consultations, func(c handover.Consultation) string {
			return c.ID + "  " + strings.TrimSpace(c.Question) + "\n→ " + c.Response
		})},
		{"Notes of earlier agents", joined(r.Progress, func(n handover.Note) string {
			return n.At.Local().Format(time.DateTime) + "  " + n.Note
		})},
		{"Changes", strings.Trim(r.Diffstat, "\n")},
		{"Patch", r.Patch},
		{"Work tree", r.Worktree},
		{"Shortened", joined(r.Cut, func(c handover.Cut) string { return c.What + ": the whole is " + c.URI })},
	}
}

func lastCheckText(c *handover.LastCheck) string {
	if c == nil {
		return ""
	}
	text := c.ID + "  " + strings.ReplaceAll(string(c.Status), "_", " ")
	if c.Log != "" {
		text += "   " + c.Log
	}
	for _, f := range c.Failures {
		text += "\n" + cli.Outcome(f)
		if f.Tail != "" {
			text += "\n" + format.Indent(f.Tail, "  ")
		}
	}
	return text
}

// joined are the texts of a list, one below the other.
func joined[T any](list []T, text func(T) string) string {
	var all []string
	for _, v := range list {
		all = append(all, strings.TrimRight(text(v), "\n"))
	}
	return strings.Join(all, "\n")
}
