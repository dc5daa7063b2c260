package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

func askHuman(ctx context.Context, c *call) error {
	question, err := handover.Question(c.args.Text["question"], c.args.List["options"])
	if err != nil {
		return err
	}
	if _, written := c.said(); written {
		if _, err := c.d.Assignment(time.Now()); err != nil {
			return err
		}
		return refuse(WrongState, "your output is written, and with it your work is done", "exit: an answer would change nothing", "")
	}
	q, err := c.d.Ask(ctx, question, time.Now())
	switch {
	case errors.Is(err, run.ErrAsking):
		return refuse(WrongState, run.ErrAsking.Error(), "wait_for_answer", "wait_for_answer")
	case err != nil:
		return err
	}
	c.res.QuestionID = q.ID
	c.res.Message = "A person has been asked, and your time stands still until the answer."
	return nil
}

func waitForAnswer(ctx context.Context, c *call) error {
	q, err := c.d.Await(ctx, c.wait())
	if err != nil {
		return err
	}
	switch {
	case q.ID == "":
		c.res.Status, c.res.Message = "idle", "you have asked no question in this run"
	case q.IsOpen():
		c.res.Status, c.res.Message = "timeout", "no answer yet: a person has been asked"
	default:
		c.res.Status, c.res.QuestionID, c.res.Question, c.res.Answer = "answered", q.ID, q.Text, q.Answer
		c.res.Message = "A person has answered. Follow the answer."
	}
	return nil
}

// mayNotAsk returns the refusal of a question by a worker that may ask none.
func (c *call) mayNotAsk() error {
	return refuse(ForbiddenRole, fmt.Sprintf("%s may not ask a person", c.opts.Worker),
		"decide by yourself, and say in your output what you assumed; a person allows questions by \"asks\": true in workflows.json", "")
}
