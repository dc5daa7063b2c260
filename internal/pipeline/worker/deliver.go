package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/tools/wire"
)

// deliver sends the result. What is being sent is sent, whether or not the client still waits for the answer: to cut it
// off would leave it to a person to find out how far it came.
func deliver(ctx context.Context, c *call) error {
	type outcome struct {
		d   pipeline.Delivery
		err error
	}
	ended := make(chan outcome, 1)
	waiting, stop := context.WithTimeout(ctx, c.wait())
	defer stop()
	go func() {
		var out outcome
		bug := wire.Safely(c.opts.Log, "deliver", func() error {
			out.d, out.err = c.send(context.WithoutCancel(ctx), waiting)
			return nil
		})
		if bug != nil {
			out.err = bug
		}
		ended <- out
	}()
	select {
	case out := <-ended:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.sent(out.d, out.err)
	case <-waiting.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.sent(pipeline.Delivery{}, run.ErrBusy)
	}
}

// again is how often it is looked whether somebody else is done with sending.
const again = 50 * time.Millisecond

// send sends the result, and while somebody else does so waits for him, as long as waiting lasts.
func (c *call) send(ctx, waiting context.Context) (pipeline.Delivery, error) {
	look := time.NewTicker(again)
	defer look.Stop()
	for {
		d, err := c.d.Deliver(ctx, run.Options{Log: c.opts.Log})
		if !errors.Is(err, run.ErrBusy) {
			return d, err
		}
		select {
		case <-look.C:
		case <-waiting.Done():
			return d, err
		}
	}
}

// sent says what became of a delivery.
func (c *call) sent(d pipeline.Delivery, err error) error {
	if err == nil && d.State != pipeline.Delivered {
		err = run.ErrDoubt
	}
	switch {
	case err == nil:
		c.res.Status, c.res.Message = "delivered", "The result is delivered. Do nothing more, and exit."
	case errors.Is(err, run.ErrSent):
		c.res.Status, c.res.Message = "already_sent", "The result is delivered already. Do nothing more, and exit."
	case errors.Is(err, run.ErrBusy):
		c.res.Status, c.res.Message, c.res.Next = "sending", "The result is being sent just now. Call it again.", c.tool.Name
		return nil
	case errors.Is(err, run.ErrDoubt):
		return &refusal{OutcomeUnknown, err.Error(), "stop: a person sees whether it arrived, and decides", "stop"}
	case errors.Is(err, run.ErrReplaced):
		return err
	default:
		return c.undelivered(err)
	}
	c.res.Delivery, c.res.Next = &d, "stop"
	return nil
}

// undelivered is the refusal of a delivery that came to nothing.
func (c *call) undelivered(err error) error {
	if _, over := c.d.Assignment(time.Now()); over != nil {
		return over
	}
	if _, written := c.said(); !written {
		return &refusal{WrongState, "your output is not there yet", "write_output first", ""}
	}
	return &refusal{StoreError, err.Error(), "call deliver once more; if that fails too, exit: ferrus sends the result when you are gone", c.tool.Name}
}

// notTerminal is the refusal of a delivery to a worker that delivers nothing.
func (c *call) notTerminal() error {
	who := "ferrus sends the result when all are done"
	if final := c.deliverer(); final != "" {
		who = fmt.Sprintf("the worker %s delivers the result", final)
	}
	return &refusal{code: ForbiddenRole, message: fmt.Sprintf("%s delivers nothing: %s", c.opts.Worker, who)}
}
