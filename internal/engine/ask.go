package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// AskHuman pauses the task for a question to a person.
func (s *Session) AskHuman(ctx context.Context, question string, options []string) (Done, error) {
	now, err := s.e.View()
	if err != nil {
		return Done{}, err
	}
	if err := s.e.undelegated(now, "call consult: it answers, or asks a person itself"); err != nil {
		return Done{}, err
	}
	return s.ask(ctx, checkrun.Question{Text: question}, options, "", refuseWhileChecking, false)
}

// Ask pauses the task for a question of ferrus itself: what was found at the snapshot needs a person. Its commands name the branch. It
// is refused with WrongState if anything has happened since.
func (e *Engine) Ask(ctx context.Context, at store.Snapshot, question string, options []string) (Done, error) {
	return e.asks(ctx, at, checkrun.Question{Text: question}, options, false)
}

// AskAbout is Ask for a question about a command of the project that failed.
func (e *Engine) AskAbout(ctx context.Context, at store.Snapshot, question checkrun.Question) (Done, error) {
	return e.asks(ctx, at, question, nil, false)
}

// AskBudget is Ask for the question whether the agents continue with the same budget again. The answer renews it: runs before it no
// longer count. No other answer and no message does.
func (e *Engine) AskBudget(ctx context.Context, at store.Snapshot, question string) (Done, error) {
	return e.asks(ctx, at, checkrun.Question{Text: question}, nil, true)
}

func (e *Engine) asks(ctx context.Context, at store.Snapshot, question checkrun.Question, options []string, budget bool) (Done, error) {
	s := e.Session(Caller{Role: state.Engine, Agent: itself})
	return s.ask(ctx, question, options, state.Engine, func(now store.Snapshot) error {
		return cmp.Or(unmoved(at)(now), e.refuseWhileChecking(now))
	}, budget)
}

// itself is the agent that asks when ferrus does.
const itself = "ferrus"

// ask raises the question on behalf of the session, or of the engine itself.
func (s *Session) ask(ctx context.Context, question checkrun.Question, options []string, as state.Role, check func(store.Snapshot) error, budget bool) (Done, error) {
	doc, err := handover.Question(question.Text, options)
	if err != nil {
		return Done{}, err
	}
	a := s.asking(question.Text, doc, as, check)
	if question.Output != "" {
		a.docs[handover.OutputDoc] = question.Output
	}
	if budget {
		apply := a.apply
		a.apply = func(now store.Snapshot, next *state.Task) {
			apply(now, next)
			next.Asked.Budget = next.Top().ID
		}
	}
	return s.commit(ctx, a)
}

// asking is the question that doc puts into words.
func (s *Session) asking(question, doc string, as state.Role, check func(store.Snapshot) error) transition {
	return transition{
		event: state.AskHuman,
		as:    as,
		docs:  map[state.Doc]string{state.QuestionDoc: doc},
		drop:  []state.Doc{state.AnswerDoc},
		note:  format.OneLine(question, handover.MaxLine),
		check: check,
		apply: func(_ store.Snapshot, next *state.Task) {
			next.Issued.Questions++
			id := "q" + strconv.Itoa(next.Issued.Questions)
			top := &next.Paused[len(next.Paused)-1]
			top.ID = id
			if as == state.Engine {
				top.By = itself
			}
			if s.Role == state.Supervisor {
				next.Asked.Supervisor = id
			} else {
				next.Asked.Executor = id
			}
		},
	}
}

// Asked returns the id of the newest question of the session's role in this task, "" when it has asked none.
func (s *Session) Asked(t state.Task) string {
	if s.Role == state.Supervisor {
		return t.Asked.Supervisor
	}
	return t.Asked.Executor
}

// Answer answers the open question, or as a person the open consultation. An id, when given, must be the open one's. A
// bare number picks the option that has it; where options are offered and none has it, it is refused as InvalidInput.
func (s *Session) Answer(ctx context.Context, id, answer string) (Done, error) {
	if err := handover.CheckText("the answer", answer, store.MaxDoc); err != nil {
		return Done{}, err
	}
	now, err := s.e.View()
	if err != nil {
		return Done{}, err
	}
	if now.Task.State == state.Consultation && (id == "" || id == now.Task.Consultation.ID) {
		request, err := store.Text(s.e.store, now, state.ConsultRequestDoc)
		if err != nil {
			return Done{}, err
		}
		if answer, err = handover.ChooseOption(now.Task.Consultation.ID, handover.ConsultationOptions(request), answer); err != nil {
			return Done{}, err
		}
		return s.Respond(ctx, answer, id)
	}
	open := now.Task.Top()
	if now.Task.State != state.AwaitingHuman || (id != "" && id != open.ID) {
		return Done{}, notOpen(id, now.Task)
	}
	question, err := store.Text(s.e.store, now, state.QuestionDoc)
	if err != nil {
		return Done{}, err
	}
	if answer, err = handover.ChooseOption(open.ID, question, answer); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, answering(now.Task, answer))
}

// answering is the answer to the question that looked has open: ids are counted anew in every task.
func answering(looked state.Task, answer string) transition {
	open := looked.Top()
	return transition{
		event: state.Answer,
		docs:  map[state.Doc]string{state.AnswerDoc: answer},
		note:  format.OneLine(answer, handover.MaxLine),
		arg:   open.ID,
		check: func(now store.Snapshot) error {
			if now.Task.Top().ID != open.ID || now.Task.TaskID != looked.TaskID {
				return notOpen(open.ID, now.Task)
			}
			return nil
		},
		apply: func(now store.Snapshot, next *state.Task) {
			resetFailureStreak(next)
			next.Decisions = state.Remember(next.Decisions, state.Record{ID: open.ID, Off: now.Journal.Bytes})
			if open.ID == next.Asked.Budget {
				next.BudgetFrom = now.Journal.Bytes
			}
		},
	}
}

// notOpen says that there is no such question to answer.
func notOpen(id string, t state.Task) error {
	what := "no question is open"
	if id != "" {
		what = fmt.Sprintf("%s is not open", id)
	}
	var remedy refusal.Own = "ferrus status{branch} shows what the task waits for"
	switch t.State {
	case state.AwaitingHuman:
		remedy = refusal.Say("the open question is %s", t.Top().ID)
	case state.Consultation:
		remedy = refusal.Say("the open consultation is %s", t.Consultation.ID)
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: what + "; the task is " + string(t.State), Remedy: remedy}
}

// AwaitAnswer waits for the answer to the newest question of the session's role, which it may ask for as often as it
// likes: an answer is a fact and is never used up. The decision is nil when wait is over, or when the role has asked
// nothing.
func (s *Session) AwaitAnswer(ctx context.Context, wait time.Duration) (*handover.Decision, store.Snapshot, error) {
	var got *handover.Decision
	snap, err := s.e.await(ctx, wait, func(now store.Snapshot) (bool, error) {
		id := s.Asked(now.Task)
		i := slices.IndexFunc(now.Task.Decisions, func(r state.Record) bool { return r.ID == id })
		if id == "" || i < 0 {
			return id == "", nil
		}
		d, err := handover.ReadDecision(s.e.store, now.Task.Decisions[i])
		got = &d
		return true, err
	})
	return got, snap, err
}
