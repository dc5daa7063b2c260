package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func getAssignment(_ context.Context, c *call) error {
	a, err := c.d.Assignment(time.Now())
	if err != nil {
		return err
	}
	a.Delivers = c.who.terminal
	c.res.Assignment = &a
	c.res.Message = "Do this task, and nothing else. Then write_output."
	return nil
}

func waitForInputs(ctx context.Context, c *call) error {
	missing, err := c.d.Wait(ctx, c.wait())
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		c.res.Status, c.res.Missing = "timeout", missing
		c.res.Message = fmt.Sprintf("%d of your input files do not exist yet. Call it again.", len(missing))
		return nil
	}
	c.res.Status, c.res.Message = "ready", "All your input files exist."
	return nil
}

func writeOutput(_ context.Context, c *call) error {
	text := c.args.Text["content"]
	if err := c.document(text); err != nil {
		return err
	}
	if away, _ := c.said(); away {
		if _, err := c.d.Assignment(time.Now()); err != nil {
			return err
		}
		return refuse(WrongState, "it is not your turn", "stop: ferrus starts you again when it is", "stop")
	}
	path, err := c.d.Write(text, c.args.Flag["consensus"], time.Now())
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	c.res.Status, c.res.Path, c.res.Bytes, c.res.SHA256 = "written", path, len(text), hex.EncodeToString(sum[:])
	c.res.Message = "The output is written. Do nothing more, and exit."
	if c.who.terminal {
		c.res.Message = "The output is written. Deliver it."
	}
	return nil
}

// document refuses a content that cannot be a result.
func (c *call) document(text string) error {
	k, _ := c.f.Workflow.Worker(c.opts.Worker)
	wrong := func(message string, remedy refusal.Own) error {
		return refuse(InvalidInput, message, remedy, c.tool.Name)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return wrong("content is empty", "send the whole result")
	case strings.ContainsRune(text, 0):
		return wrong("content has a NUL", "send text")
	case int64(len(text)) < k.Least():
		return wrong(fmt.Sprintf("content has %d bytes, and a result of this worker at least %d", len(text), k.Least()), "send the whole result")
	}
	return nil
}

func heartbeat(_ context.Context, c *call) error {
	a, err := c.d.Assignment(time.Now())
	if err != nil {
		return err
	}
	c.res.Message = fmt.Sprintf("Your work counts. Seconds left: %d.", a.Left)
	if a.Left == 0 {
		c.res.Message = "Your work counts, but your time is over: write what you have, at once."
	}
	return nil
}
