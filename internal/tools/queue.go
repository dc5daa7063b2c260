package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/queue"
)

// queueTask does not touch the machine unless it sends a message: the queue belongs to the project, whatever happens to the
// present task.
func queueTask(ctx context.Context, c *call) error {
	if to := c.Text["to"]; to != "" {
		return c.tell(ctx, to, c.Text["text"])
	}
	home, name, text := project.At(c.s.Engine().Place().Root, "").Dir(), c.Text["name"], c.Text["text"]
	waiting, _ := queue.List(home) // files that cannot be read are reported by ferrus run
	i := slices.IndexFunc(waiting, func(it queue.Item) bool { return it.Text == text && strings.HasPrefix(it.Name, name) })
	if c.res.Repeated = i >= 0; !c.res.Repeated {
		it, err := queue.Put(home, name, text)
		if err != nil {
			return err
		}
		waiting, i = append(waiting, it), len(waiting)
	}
	c.res.Queued, c.res.Queue = waiting[i].Name, len(waiting)
	wait := "1 task waits"
	if n := len(waiting); n > 1 {
		wait = fmt.Sprintf("%d tasks wait", n)
	}
	c.res.Message = fmt.Sprintf("Queued as %s; %s. A person starts them: ferrus run --parallel N.", c.res.Queued, wait)
	return nil
}
