// Package run has the commands that start agents and wait for the result: run, resume, stop, tick and wait-file.
package run

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// runDetails is what run and resume have in common.
const runDetails = `ferrus keeps the agent running that the state needs. The executor of
[hq.executor] in ferrus.toml works. The supervisor of [hq.supervisor] answers
consultations and reviews. An agent that dies is started again and continues
from the files on disk. ferrus asks you a question when an agent exits without
progress too often, or when a limit is reached. The run can be killed at any
time; "ferrus resume" continues it.

A run that cannot succeed is refused before an agent is started, with all that
stands in its way and what mends it: no checks are named, an agent is not
installed or not logged in, a sandbox cannot be made. It is refused, too, if the
rehearsal of "ferrus init" failed, or if nobody ran what it wrote. Then a
terminal asks once whether to start: making the checks pass may be the task.
Elsewhere --unrehearsed says so. That holds for these commands until another
rehearsal. With --parallel also a
repository without a commit is refused, unless a branch has a task. An empty
list, commands = [], names no checks on purpose.

On a terminal, ferrus shows a question and you can type the answer. You can also
run "ferrus answer" in another terminal. With --headless, or if stdin is not a
terminal, a question ends the run with exit code 6. Then
"ferrus answer --resume" answers and continues. Ctrl-C and "ferrus stop" end the
agents and leave the task as it is. Closing the terminal ends nothing.

Exit codes:

- 0: the task is complete
- 1: the task failed, or an error occurred
- 3: there is nothing to do
- 6: the task is waiting for you
- 7: another run works on the task
- 9: "ferrus stop" or --until ended the run
- 130, 143: ctrl-C or SIGTERM ended the run` + endDetails

// runJSON are the lines of a run with --json.
const runJSON = `one object a line: at kind state duty agent run text until sandbox ended{...}.
kind is state, found, started, ending, ended, parked, question, until or
stopping. The last line is: kind (end) exit state task_id title failure_reason
question{...} output spent{runs seconds usage{...}} runs[].`

// A conducting is how a run is asked for.
type conducting struct {
	task     *string // the text of a new one; nil goes on with the one there is
	headless bool
	now      bool
	explain  bool
	parallel int      // how many tasks of branches and of the queue at a time; 0 for the one task that the command means
	allowed  bool     // though the rehearsal has not passed
	only     []string // of a node: the branches that it works on; none for all and the queue
	ending
}

// RunCommand is ferrus run.
func RunCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var how conducting
	cmd := &cobra.Command{
		Use:   "run [TEXT | -f FILE | --parallel N] [--headless] [--until TIME]",
		Short: "Start the agents and wait until the task is done",
		Long: `Creates a task from TEXT or FILE, starts the agents and waits until the task is
complete or failed. Without a text it continues the present task. With
--parallel it works on the tasks of all branches and of the queue. A question to
you is shown here, or answer it with "ferrus answer". Ctrl-C ends the agents;
"ferrus resume" continues.`,
		Example: `  ferrus run "add a --verbose flag to the server"
  ferrus run -f task.md --headless
  ferrus run --parallel 3 --until 07:00`,
		Annotations: cli.Reference(runDetails+`

With --parallel N, ferrus works on the tasks of all branches, N at a time. It
also makes a branch of each task of the queue, in the order in which they were
added, including those that are added later. Each branch has its own work tree
and its own agents. Approved work stays on its branch. With [branches]
on_approve = "merge" in ferrus.toml it is merged into the project, one branch
after the other. The checks must pass on the merged result. A conflict waits for
you. A question stops only its own branch. The run ends when everything that is
left waits for you.`, runJSON+`
With --parallel each line also has branch. More kinds are taken, begun, left,
merging, merged, unmerged and trouble (with text output). The last line is: kind
exit queued branches[{... unmerged trouble}], with the fields of
"ferrus branches".`),
		RunE: func(cmd *cobra.Command, words []string) error {
			if how.explain {
				a.Say("%s", conductor.Explain())
				return nil
			}
			if cmd.Flags().Changed("parallel") {
				switch {
				case how.parallel < 1:
					return cli.UsageError("use --parallel 3", "--parallel %d is not a number of tasks", how.parallel)
				case cli.TextGiven(cmd, words):
					return cli.UsageError("ferrus queue TEXT adds a task for --parallel", "--parallel does not take a text")
				}
				return conductMany(a, cmd.Context(), how)
			}
			if cli.TextGiven(cmd, words) {
				text, err := a.Text(from, words)
				if err != nil {
					return cli.CannotDo("create the task", "", err)
				}
				how.task = &text
			}
			return conduct(a, cmd.Context(), how)
		},
	}
	from.FileFlag(cmd)
	how.flags(cmd)
	cmd.Flags().IntVar(&how.parallel, "parallel", 0, "run all branches and the queue, `N` tasks at a time")
	cmd.Flags().BoolVar(&how.explain, "explain", false, "print the decision tables, and do nothing")
	return cmd
}

func (how *conducting) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&how.headless, "headless", false, "non-interactive: a question ends the run with exit code 6")
	cli.UnrehearsedFlag(cmd, &how.allowed)
	how.ending.flags(cmd)
}

// conduct sees the task through. A task is made when nothing stands in the way of the run.
func conduct(a *cli.App, ctx context.Context, how conducting) error {
	r, err := prepare(a, ctx, how)
	if err != nil {
		return err
	}
	s, e := r.Session, r.Engine()
	defer e.Close()
	if how.task == nil {
		err = goesOn(a, ctx, s, r.conf, !how.headless && a.MayAsk())
	} else if _, err = s.CreateTask(ctx, *how.task, ""); err != nil {
		err = cli.CannotDo("create the task", status.Sentence(e), err)
	}
	if err != nil {
		return err
	}
	cli.IgnoreHangup()
	defer a.Notifies(ctx, e.Place().Root)()
	w := newWatcher(a, s, how.headless || !a.InTTY)
	defer w.close()
	opts := r.options(r.conf)
	opts.Headless, opts.Tell, opts.Show = w.headless, w.tell, w.show
	out, err := schedule.RunTask(checks.Followed(ctx, w.follow), e, schedule.TaskOptions{Options: opts, TellOf: w.tellOf})
	w.close()
	switch {
	case errors.Is(err, conductor.ErrStopped):
		return stoppedRun(a, ctx, e)
	case err != nil:
		return err
	}
	return ended(a, e, out)
}

// goesOn refuses a run without a new task that could not go on with the one there is.
func goesOn(a *cli.App, ctx context.Context, s *engine.Session, conf config.Config, ask bool) error {
	snap, err := s.Engine().View()
	if err != nil {
		return err
	}
	if e := s.Engine(); e.Delegated(snap) {
		r, err := status.Read(e)
		if err != nil {
			return err
		}
		return cli.Refuse(refusal.WrongState, "branch "+e.Place().Branch+" is delegate "+snap.Task.Parent.ID+" of another task, whose run starts its agents too", refusal.Say("run %s", r.ResumeCommand()))
	}
	if snap.Task.State == state.Idle {
		return cli.Refuse(refusal.WrongState, "there is no task to continue", `ferrus run{branch} "what is to be done" creates one and starts the agents`)
	}
	now := engine.GateFor(snap.Task, conf)
	frozen, err := s.Engine().Gate(snap)
	if err != nil {
		return err
	}
	if err := a.OfferConfig(ctx, s, frozen, now, ask); err != nil {
		return err
	}
	return cli.CheckContinuable(ctx, s.Engine(), conf, ask)
}

// A runEnd is the last line of a run with --json.
type runEnd struct {
	Kind          string        `json:"kind"`
	Exit          int           `json:"exit"`
	State         state.State   `json:"state"`
	TaskID        string        `json:"task_id,omitempty"`
	Title         string        `json:"title,omitempty"`
	FailureReason string        `json:"failure_reason,omitempty"`
	Question      *status.Text  `json:"question,omitempty"`
	Output        string        `json:"output,omitempty"`
	Spent         records.Spend `json:"spent"`
	Runs          []process.Run `json:"runs,omitempty"`
}

// ended says how the run went.
func ended(a *cli.App, e *engine.Engine, out conductor.Outcome) error {
	t := out.Task
	r, err := status.Read(e)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSONLine(runEnd{"end", out.Exit, t.State, t.TaskID, t.Title, t.FailureReason, r.Question, r.Output, r.Spent, out.Runs})
	} else {
		showEnd(a, r, t, out.Exit == conductor.ExitLate)
	}
	if err != nil || out.Exit == cli.ExitOK {
		return err
	}
	return cli.ExitWith(out.Exit)
}

// stoppedRun says that the run was stopped, and how it goes on.
func stoppedRun(a *cli.App, ctx context.Context, e *engine.Engine) error {
	r, err := status.Read(e)
	if err != nil {
		return err
	}
	exit := cli.ExitOfSignal(ctx)
	if a.JSON {
		end := runEnd{Kind: "end", Exit: exit, State: r.State, TaskID: r.TaskID, Title: r.Title, Spent: r.Spent}
		if err := a.PrintJSONLine(end); err != nil {
			return err
		}
		return cli.ExitWith(exit)
	}
	a.Say("stopped (%s); its agents have ended\n", status.StateWords(r.State))
	a.ShowSteps(r.Next)
	return cli.ExitWith(exit)
}

// showEnd is the report at the end of a run.
func showEnd(a *cli.App, r *status.Report, t state.Task, late bool) {
	a.Say("\n%s\n", a.Paint(cli.ColourOf(t.State), verdictLine(r, t)))
	if r.FailureReason != "" {
		a.ShowRow("failed", a.Paint(cli.Red, format.Line(r.FailureReason)))
	}
	if late {
		a.ShowRow("ended", "because --until has passed")
	}
	a.ShowQuestion("question", r.Question, state.QuestionDoc)
	a.ShowOutput(r.Output, "    ")
	a.ShowSpend(r)
	for _, n := range r.Notices {
		a.ShowRow("notice", a.Paint(cli.Yellow, format.Line(n)))
	}
	a.ShowSteps(r.Next)
}
