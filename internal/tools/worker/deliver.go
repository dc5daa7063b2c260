package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// deliver sends the result. It continues even if the client no longer waits for the answer: after
// an interrupted delivery a person would have to find out how far it came.
func deliver(ctx context.Context, c *call) error {
	type outcome struct {
		d   pipeline.Delivery
		err error
	}
	ended := make(chan outcome, 1)
	waiting, stop := context.WithTimeout(ctx, c.wait())
	defer stop()
	c.opts.sends.Go(func() {
		var out outcome
		bug := gate.Safely(c.opts.Log, "deliver", func() error {
			out.d, out.err = c.send(context.WithoutCancel(ctx), waiting)
			return nil
		})
		if bug != nil {
			out.err = bug
		}
		ended <- out
	})
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

// again is the interval at which a call checks whether another sender has finished.
const again = 50 * time.Millisecond

// send sends the result. If another sender is sending, it waits for that one until waiting ends.
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

// sent describes the outcome of a delivery.
func (c *call) sent(d pipeline.Delivery, err error) error {
	if err == nil && d.State != pipeline.Delivered {
		err = run.ErrDoubt
	}
	switch {
	case err == nil:
		c.res.Status, c.res.Message = "delivered", "The result is delivered. Do nothing more, and exit."
	case errors.Is(err, run.ErrSent):
		c.res.Status, c.res.Message = "already_sent", "The result was already delivered. Do nothing more, and exit."
	case errors.Is(err, run.ErrBusy):
		c.res.Status, c.res.Message, c.res.Next = "sending", "The result is being sent now. Call it again.", c.tool.Name
		return nil
	case errors.Is(err, run.ErrDoubt):
		return refuse(OutcomeUnknown, err.Error(), "stop: a person checks whether it arrived, and decides", "stop")
	case errors.Is(err, run.ErrReplaced):
		return err
	default:
		return c.undelivered(err)
	}
	c.res.Delivery, c.res.Next = &d, "stop"
	return nil
}

// undelivered returns the refusal of a failed delivery.
func (c *call) undelivered(err error) error {
	if _, over := c.d.Assignment(time.Now()); over != nil {
		return over
	}
	if _, written := c.said(); !written {
		return refuse(WrongState, "your output does not exist yet", "write_output first", "")
	}
	return refuse(StoreError, err.Error(), "call deliver once more; if that fails, too, exit: ferrus sends the result after that", c.tool.Name)
}

// notTerminal returns the refusal of a delivery by a worker that does not deliver.
func (c *call) notTerminal() error {
	who := "ferrus sends the result when all are done"
	if final := c.deliverer(); final != "" {
		who = fmt.Sprintf("the worker %s delivers the result", final)
	}
	return refuse(ForbiddenRole, fmt.Sprintf("%s does not deliver: %s", c.opts.Worker, who), "", "")
}
