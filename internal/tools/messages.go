package tools

import (
	"github.com/ferrus-go/ferrus/internal/packet"
	"github.com/ferrus-go/ferrus/internal/state"
)

// hears reports whether this result carries a person's messages for the running agent: the caller
// has the claim, or reviews or answers. A claim has them among its decisions, where a successor
// finds them, too.
func (c *call) hears(in situation) bool {
	return c.packet == nil && (in.as == state.Holder || in.role == state.Supervisor && !unneeded(in))
}

// listen marks the pending messages as delivered to the session and adds them to the result.
func (c *call) listen(in situation) {
	if !c.hears(in) {
		return
	}
	c.s.Told(c.res.Decisions)
	list, err := c.s.Pending(*c.snap)
	if err != nil {
		c.opts.Log.Warn("messages of a person were not delivered", "agent", c.s.Agent, "error", err)
	}
	c.addMessages(list)
}

// addMessages puts a person's messages before the result.
func (c *call) addMessages(list []packet.Decision) {
	for _, d := range list {
		c.res.FromThePerson = append(c.res.FromThePerson, d.Answer)
	}
}
