package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// A Consulting is what an executor asks the supervisor.
type Consulting struct {
	Problem  string
	Tried    string
	Question string
	Options  []string // one line each; may be empty
}

// Consult pauses the work for a question to the supervisor.
func (s *Session) Consult(ctx context.Context, in Consulting) (Done, error) {
	doc, err := in.render()
	if err != nil {
		return Done{}, err
	}
	return s.commit(ctx, in.act(doc))
}

// act is the consultation that doc puts into words.
func (in Consulting) act(doc string) transition {
	return transition{
		event: state.Consult,
		docs:  map[state.Doc]string{state.ConsultRequestDoc: doc},
		drop:  []state.Doc{state.ConsultResponseDoc},
		note:  format.OneLine(in.Question, handover.MaxLine),
		check: refuseWhileChecking,
		apply: func(_ store.Snapshot, next *state.Task) {
			next.Issued.Consultations++
			id := "c" + strconv.Itoa(next.Issued.Consultations)
			next.Consultation.ID = id
			next.Paused[len(next.Paused)-1].ID = id
		},
	}
}

func refuseWhileChecking(now store.Snapshot) error {
	if now.Task.Check.Status != state.CheckRunning {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.CheckRunning, Message: "check " + now.Task.Check.ID + " is running", Remedy: "call check to wait for its result"}
}

// refuseWhileChecking is the same for what ferrus does itself, for whom the check of a claim that is dead has ended: nobody else may come to
// take the claim over.
func (e *Engine) refuseWhileChecking(now store.Snapshot) error {
	if now.Task.ClaimedBy != "" && e.Verdict(now).Dead {
		return nil
	}
	return refuseWhileChecking(now)
}

// Respond answers the open consultation: the one named by id, or the one this session was last shown.
func (s *Session) Respond(ctx context.Context, response, id string) (Done, error) {
	if err := handover.CheckText("response", response, store.MaxDoc); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, s.responding(response, id))
}

// responding is the answer to the open consultation.
func (s *Session) responding(response, id string) transition {
	return transition{
		event: state.RespondConsult,
		docs:  map[state.Doc]string{state.ConsultResponseDoc: response},
		note:  format.OneLine(response, handover.MaxLine),
		arg:   id,
		check: func(now store.Snapshot) error {
			_, shown := s.Shown(now.Task)
			return s.stale("consultation", id, now.Task.Consultation.ID, shown, "wait_for_review")
		},
		apply: func(now store.Snapshot, next *state.Task) {
			next.Consulted = state.Remember(next.Consulted, state.Record{ID: next.Consultation.ID, Off: now.Journal.Bytes})
		},
	}
}

// stale refuses what was decided about something other than what is there now.
func (s *Session) stale(what, named, present string, shown bool, look string) error {
	remedy := refusal.Say("call %s to be shown it", look)
	if s.Once {
		remedy = refusal.Say("call %s, and name the %[2]s_id that it shows as %[2]s", look, what)
	}
	switch {
	case named == "" && shown, named == present:
		return nil
	case named == "" && s.Once:
		return &refusal.RefusedError{Code: refusal.StaleReview, Message: "the argument " + what + " is missing: this connection has no session that remembers what you were shown",
			Remedy: refusal.Say("call it again with %s %q, if that is the %[1]s_id that %s showed you", what, present, look)}
	case named == "":
		return &refusal.RefusedError{Code: refusal.StaleReview, Message: "this session has not been shown " + what + " " + present, Remedy: remedy}
	}
	return &refusal.RefusedError{Code: refusal.StaleReview, Message: what + " " + named + " is not the present one, " + present + " is", Remedy: remedy}
}

// AwaitResponse waits for the supervisor's answer and goes on with the work. ok is false when wait is over.
func (s *Session) AwaitResponse(ctx context.Context, wait time.Duration) (done Done, ok bool, err error) {
	snap, err := s.e.await(ctx, wait, func(now store.Snapshot) (bool, error) {
		if err := s.verifyClaim(now, state.TakeResponse); err != nil {
			return true, err
		}
		consulted := now.Task.InConsultation()
		if consulted && !s.Holds(now.Task) {
			return true, notClaimed(now.Task.ClaimedBy, live.IsSession(s.ID))
		}
		if consulted && (now.Task.State != state.Consultation || !now.Task.Consultation.Answered) {
			return false, nil
		}
		var err error
		done, err = s.commit(ctx, transition{event: state.TakeResponse, note: now.Task.Consultation.ID})
		ok = err == nil
		return true, err
	})
	if !ok {
		done.Snapshot = snap
	}
	return done, ok, err
}

func (in Consulting) render() (string, error) {
	options, err := handover.NumberOptions(in.Options)
	if err != nil {
		return "", err
	}
	return handover.RenderDocument("the consultation", []handover.Section{{Heading: "Problem", Arg: "problem", Text: in.Problem, Optional: false}, {Heading: "What I tried", Arg: "tried", Text: in.Tried, Optional: false},
		{Heading: "Options", Arg: "options", Text: options, Optional: true}, {Heading: "Question", Arg: "question", Text: in.Question, Optional: false}})
}
