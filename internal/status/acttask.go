package status

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func answer(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	done, err := s.Answer(ctx, r.ID, r.Text)
	if err != nil {
		return ActResult{}, err
	}
	t, doc, id := done.Task, state.AnswerDoc, done.Task.Consultation.ID
	if done.Top.Event == state.RespondConsult {
		doc = state.ConsultResponseDoc
	} else if n := len(t.Decisions); n > 0 {
		id = t.Decisions[n-1].ID
	}
	text := done.Top.Docs[doc] // a number has become its option
	return ActResult{Done: done, Lines: []string{fmt.Sprintf("%s answered: %s", id, format.Clip(format.Line(text), 100))},
		Facts: map[string]any{"id": id, "answer": text, "state": t.State, "seq": t.Seq, "epoch": t.Epoch}}, nil
}

func approve(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	done, err := s.Approve(ctx, r.Text, "")
	t := done.Task
	return ActResult{Done: done, Lines: []string{fmt.Sprintf("%s approved: %s is %s", t.Submission.ID, t.TaskID, t.State)}}, err
}

func reject(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	done, err := s.Reject(ctx, r.Text, "")
	t := done.Task
	lines := []string{fmt.Sprintf("%s rejected: %s is %s again", t.Submission.ID, t.TaskID, t.State), "  an executor that calls wait_for_task gets it, with your text"}
	if t.State == state.Failed {
		lines = []string{fmt.Sprintf("%s rejected: %s has failed", t.Submission.ID, t.TaskID), "  " + format.Line(t.FailureReason)}
	}
	return ActResult{Done: done, Lines: lines}, err
}

func reopen(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	done, err := s.Reopen(ctx, r.Text)
	return ActResult{Done: done, Lines: []string{fmt.Sprintf("%s is %s again; an executor that calls wait_for_task gets it, with your text", done.Task.TaskID, done.Task.State)}}, err
}

func release(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	e := s.Engine()
	was, err := e.View()
	if err != nil {
		return ActResult{}, err
	}
	done, err := s.Release(ctx, r.Text)
	if err == nil {
		err = conductor.Slot(e, agents.Executor).Stop(ctx)
	}
	lines := []string{"the agent is unassigned; the next executor that calls wait_for_task gets the task"}
	if e.Store().Probe(was.Task.Session) != lease.Gone { // its session has not ended with the release
		lines = append(lines, fmt.Sprintf("  %s may still edit files: end that agent if it hangs", was.Task.ClaimedBy))
	}
	return ActResult{Done: done, Lines: lines}, err
}

func reset(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	e := s.Engine()
	was, err := e.View()
	if err != nil {
		return ActResult{}, err
	}
	done, err := s.Reset(ctx, r.Text)
	if err == nil {
		err = schedule.EndAll(ctx, e, was.Task)
	}
	archive := e.Place().Path("archive", was.Task.TaskID)
	facts := TaskFacts(done.Task)
	facts["task_id"], facts["archive"] = was.Task.TaskID, archive
	if rel, err := filepath.Rel(e.Place().Root, archive); err == nil && filepath.IsLocal(rel) {
		archive = rel
	}
	return ActResult{Done: done, Facts: facts, Lines: []string{fmt.Sprintf("%s is abandoned; it is archived in %s", was.Task.TaskID, archive), "  the files of the work tree are unchanged"}}, err
}

func rollback(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	got, err := rolled(ctx, s, r, false)
	return ActResult{Done: got.Done, Lines: []string{fmt.Sprintf("%s is %s again, as it was at %d; the files of the work are unchanged", got.Task.TaskID, got.Task.State, r.Seq)}}, err
}

func rollbackFiles(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	got, err := rolled(ctx, s, r, true)
	t, moved := got.Task, got.Files
	lines := []string{fmt.Sprintf("%s is %s again, as it was at %d: %s, %s", t.TaskID, t.State, r.Seq,
		format.Count(len(moved.Written), "file written", "files written"), format.Count(len(moved.Removed), "removed", "removed"))}
	for _, path := range moved.Left {
		lines = append(lines, "  not changed: "+path)
	}
	facts := TaskFacts(t)
	if len(moved.Edited) > 0 {
		facts["edited"] = moved.Edited
	}
	for _, e := range moved.Edited {
		lines = append(lines, "  "+format.Line(e.String()))
	}
	return ActResult{Done: got.Done, Lines: lines, Facts: facts}, err
}

func rolled(ctx context.Context, s *engine.Session, r Request, files bool) (engine.Rolled, error) {
	return delegate.Rollback(ctx, s, r.Seq, r.Text, files, func() error { return schedule.EndAll(ctx, s.Engine()) })
}

// finish ends a rollback or a merge that was cut off while it moved files.
func finish(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	now, err := s.Engine().View()
	if err != nil {
		return ActResult{}, err
	}
	goal := now.Task.Returning
	r.Seq, r.Text, r.Branch = goal.To, "it was cut off, and is finished", goal.From
	switch {
	case goal.From != "":
		return onBranch(merge)(ctx, s, r)
	case goal.Tree != "":
		return rollbackFiles(ctx, s, r)
	case goal.To != 0:
		return rollback(ctx, s, r)
	}
	return ActResult{}, &refusal.RefusedError{Code: refusal.WrongState, Message: "no files are being moved", Remedy: "ferrus status{branch} shows the task as it is now", Person: true}
}

func steer(ctx context.Context, s *engine.Session, r Request) (ActResult, error) {
	done, err := s.Steer(ctx, r.Text)
	if err != nil {
		return ActResult{}, err
	}
	return ActResult{Done: done, Lines: []string{readers(done.Task, s.Engine().Verdict(done.Snapshot).Dead)}}, nil
}

func accept(ctx context.Context, s *engine.Session, _ Request) (ActResult, error) {
	changes, done, err := s.AcceptConfig(ctx)
	var r *refusal.RefusedError
	if errors.As(err, &r) && r.Wrong != nil && r.Wrong.State == state.Idle {
		err = &refusal.RefusedError{Code: r.Code, Message: "there is no task", Remedy: "the next task gets ferrus.toml as it is then"}
	}
	lines := []string{fmt.Sprintf("accepted for %s:", done.Task.TaskID)}
	for _, c := range changes {
		lines = append(lines, "  "+c.String())
	}
	if len(changes) == 0 {
		lines = []string{"nothing to do: the task has the configuration of ferrus.toml"}
	}
	return ActResult{Done: done, Lines: lines, Facts: map[string]any{"accepted": changes, "seq": done.Task.Seq}}, err
}

// stopLimit is how long a conductor is given to end by itself: longer than it gives its agents.
const stopLimit = 20 * time.Second

func stop(ctx context.Context, s *engine.Session, _ Request) (ActResult, error) {
	e := s.Engine()
	before, err := Read(e)
	if err != nil {
		return ActResult{}, err
	}
	dir := e.Place().Path()
	h, busy := conductor.Conductor(dir)
	if !busy && e.Place().Branch == "" {
		dir = schedule.Dir(e.Place().Root)
		h, busy = conductor.Conductor(dir)
	}
	var lines, ended []string
	if busy {
		lines = append(lines, fmt.Sprintf("ended the run (process %d)", h.Pid))
		if err := proc.RequestStop(h.Pid); err != nil {
			return ActResult{}, fmt.Errorf("end the run (process %d): %v", h.Pid, err)
		}
		for until := time.Now().Add(stopLimit); busy && time.Now().Before(until) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			_, busy = conductor.Conductor(dir)
		}
		switch {
		case ctx.Err() != nil:
			return ActResult{}, context.Cause(ctx)
		case busy:
			if p, err := os.FindProcess(h.Pid); err == nil {
				_ = p.Kill()
			}
		}
	}
	for _, r := range before.Agents {
		ended, lines = append(ended, r.Name), append(lines, "ended "+r.Name)
	}
	if len(lines) == 0 {
		lines = []string{"nothing to do: no run is active, and no agent of one"}
	}
	return ActResult{Lines: lines, Facts: map[string]any{"conductor": h.Pid, "ended": ended, "state": before.State}}, schedule.EndAll(ctx, e)
}

// readers says which agents read a message, and when.
func readers(t state.Task, dead bool) string {
	who := "the next agent reads it with the task"
	if t.ClaimedBy != "" && !dead {
		who = t.ClaimedBy + " reads it with its next tool call"
	}
	turn := map[state.State]string{state.Reviewing: "reviews " + t.Submission.ID}
	if !t.Consultation.Answered {
		turn[state.Consultation] = "answers " + t.Consultation.ID
	}
	if does := turn[t.State]; does != "" {
		who = fmt.Sprintf("the supervisor that %s reads it with its next tool call; %s", does, who)
	}
	return who
}

// allowToday lifts the limits of the day.
func allowToday(_ context.Context, s *engine.Session, _ Request) (ActResult, error) {
	until, err := records.AllowToday(s.Engine().Place().Root, time.Now())
	if err == nil && until.IsZero() {
		err = &refusal.RefusedError{Code: refusal.WrongState, Message: "no limit of the day is set", Remedy: "ferrus config explain limits lists the limits"}
	}
	return ActResult{Facts: map[string]any{"until": until},
		Lines: []string{"agents of this project may start until " + until.Format("2006-01-02 15:04 MST") + ", whatever the limits of the day say"}}, err
}
