package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// The errors of a question that cannot be asked, and of an answer to none.
var (
	ErrAsking  = errors.New("this worker has asked already, and nobody has answered yet")
	ErrMayNot  = errors.New("this worker may not ask: its workflow has no \"asks\": true for it")
	ErrNotOpen = errors.New("no such question is open")
)

// Questions returns what the workers of the run have asked a person, in the order in which they did.
func (f *Folder) Questions() ([]pipeline.Question, error) {
	text, err := f.slurp(questionsFile)
	if err != nil || text == nil {
		return nil, err
	}
	var all struct {
		Questions []pipeline.Question `json:"questions"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %v; remove it, and the workers ask again", f.Path(questionsFile), err)
	}
	return all.Questions, nil
}

// edit changes the questions of the run, in one step. A caller that is killed has changed all or
// nothing.
func (f *Folder) edit(ctx context.Context, change func([]pipeline.Question) ([]pipeline.Question, error)) error {
	if _, err := f.lstat(); err != nil {
		return ErrGone
	}
	lock, err := f.take(ctx, questionsLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	list, err := f.Questions()
	if err == nil {
		list, err = change(list)
	}
	if err != nil {
		return err
	}
	text, err := jsonx.Marshal(map[string]any{"questions": list})
	if err != nil {
		return err
	}
	return f.durably(questionsFile, append(text, '\n'), 0o600)
}

// Ask asks a person a question. The next tick tells the person. From now on the time of the worker
// does not pass, until the answer is there. The error is ErrMayNot, ErrAsking or ErrReplaced.
func (d *WorkerSession) Ask(ctx context.Context, text string, now time.Time) (pipeline.Question, error) {
	if k, _ := d.f.Workflow.Worker(d.role); !k.Asks {
		return pipeline.Question{}, ErrMayNot
	}
	var q pipeline.Question
	err := d.f.edit(ctx, func(list []pipeline.Question) ([]pipeline.Question, error) {
		facts, err := d.facts(now)
		if err != nil {
			return nil, err
		}
		if facts.Asks(d.role) {
			return nil, ErrAsking
		}
		q = pipeline.Question{ID: fmt.Sprintf("q%d", len(list)+1), Role: d.role, Attempt: d.attempt, Text: text, At: now.UTC().Round(0)}
		return append(list, q), nil
	})
	if errors.Is(err, ErrGone) {
		err = ErrReplaced
	}
	return q, err
}

// Await waits for the answer to the newest question of the worker, at most for most. The question is
// open when there is none yet. Its id is "" when the worker has asked nothing.
func (d *WorkerSession) Await(ctx context.Context, most time.Duration) (pipeline.Question, error) {
	w := d.f.watch([]string{questionsFile})
	defer w.Close()
	for end := time.Now().Add(most); ; {
		facts, err := d.facts(time.Now())
		if err != nil {
			return pipeline.Question{}, err
		}
		q := d.newest(facts.Questions)
		if q.ID != "" && !q.IsOpen() {
			return q, d.received(ctx, q)
		}
		if q.ID == "" || !time.Now().Before(end) || ctx.Err() != nil {
			return q, ctx.Err()
		}
		w.wait(ctx, nil, end)
	}
}

// Waits reports whether the attempt has asked a question whose answer it has not received.
func (d *WorkerSession) Waits(now time.Time) bool {
	facts, err := d.facts(now)
	if err != nil {
		return false
	}
	q := d.newest(facts.Questions)
	return q.ID != "" && q.Attempt == d.attempt && !q.Read
}

// newest returns the newest question of the worker, of any attempt.
func (d *WorkerSession) newest(list []pipeline.Question) pipeline.Question {
	for _, q := range slices.Backward(list) {
		if q.Role == d.role {
			return q
		}
	}
	return pipeline.Question{}
}

// received records that the attempt that asked has the answer: if it ends now, that is not because
// of its question.
func (d *WorkerSession) received(ctx context.Context, q pipeline.Question) error {
	if q.Read || q.Attempt != d.attempt {
		return nil
	}
	return d.f.edit(ctx, func(list []pipeline.Question) ([]pipeline.Question, error) {
		for i := range list {
			if list[i].ID == q.ID {
				list[i].Read = true
			}
		}
		return list, nil
	})
}

// Answer answers an open question of the run, which choose may turn the answer into; "" is the only
// open one. The error is ErrNotOpen when there is none, or several and no id.
func (f *Folder) Answer(ctx context.Context, id, by string, now time.Time, choose func(pipeline.Question) (string, error)) (pipeline.Question, error) {
	var q pipeline.Question
	err := f.edit(ctx, func(list []pipeline.Question) ([]pipeline.Question, error) {
		facts, err := f.present(now)
		if err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(facts.Open(), func(q pipeline.Question) bool { return id != "" && q.ID != id })
		if len(open) != 1 {
			return nil, ErrNotOpen
		}
		i := slices.IndexFunc(list, func(q pipeline.Question) bool { return q.ID == open[0].ID })
		if list[i].Answer, err = choose(list[i]); err != nil {
			return nil, err
		}
		list[i].By, list[i].Answered = by, now.UTC().Round(0)
		q = list[i]
		return list, nil
	})
	return q, err
}
