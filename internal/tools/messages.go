package tools

import (
	"errors"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/state"
)

// hears reports whether this result carries messages for the running agent, and whether those of a
// person are among them: they are for the agent that has the claim, reviews or answers. A claim has them in
// its packet, where a successor finds them, too.
func (c *call) hears(in situation) (messages, steers bool) {
	holds, decides := in.as == state.Holder, in.role == state.Supervisor
	return c.packet == nil && (holds || decides), holds || decides && !unneeded(in)
}

// listen marks the pending messages as delivered to the session and adds them to the result.
func (c *call) listen(in situation) {
	messages, steers := c.hears(in)
	if !messages {
		return
	}
	c.s.MarkShown(c.shown())
	to := engine.Reader{Role: in.role, Steers: steers}
	var unread error
	if in.as == state.Holder {
		to.Relatives, unread = delegate.Messages(c.s.Engine(), c.snap.Task)
	}
	news, err := c.s.Pending(*c.snap, to)
	if err := errors.Join(unread, err); err != nil {
		c.opts.Log.Warn("messages were not delivered", "agent", c.s.Agent, "error", err)
	}
	c.addNews(news)
}

// shown returns which messages the result has.
func (c *call) shown() handover.News {
	return handover.News{Steers: c.res.Decisions, Messages: c.res.Messages}
}

// addNews puts messages before the result.
func (c *call) addNews(news handover.News) {
	for _, d := range news.Steers {
		c.res.FromThePerson = append(c.res.FromThePerson, d.Answer)
	}
	c.res.Messages = news.Messages
}
