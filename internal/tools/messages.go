package tools

import (
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// hears reports whether a person's word to whoever works goes before this result: its caller holds the work, or reviews or
// answers. A claim has room for it among its decisions only, where it is found by whoever comes later, too.
func (c *call) hears(in situation) bool {
	return c.packet == nil && (in.as == state.Holder || in.role == state.Supervisor && !unneeded(in))
}

// listen has the session hear what it has not been told yet.
func (c *call) listen(in situation) {
	if !c.hears(in) {
		return
	}
	c.s.Told(c.res.Decisions)
	list, err := c.s.Pending(*c.snap)
	if err != nil {
		c.opts.Log.Warn("a person is not heard", "agent", c.s.Agent, "error", err)
	}
	c.addMessages(list)
}

// addMessages puts what a person has said before the result.
func (c *call) addMessages(list []engine.Decision) {
	for _, d := range list {
		c.res.FromThePerson = append(c.res.FromThePerson, d.Answer)
	}
}
