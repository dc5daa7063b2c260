package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// queueTask does not touch the machine unless it sends a message: the queue belongs to the project, whatever happens to the
// present task.
func queueTask(ctx context.Context, c *call) error {
	if to := c.Text["to"]; to != "" {
		return c.tell(ctx, to, c.Text["text"])
	}
	root := c.s.Engine().Place().Root
	home, name, text := project.At(root, "").Dir(), c.Text["name"], c.Text["text"]
	put := func() (queue.Item, error) {
		return branch.Enqueue(c.s.Engine(), name, text, branch.Queueing{Needs: c.List["needs"]})
	}
	same := func(it queue.Item) bool { return it.Text == text && strings.HasPrefix(it.Name, name) }
	starts := "A person starts them: " + project.At(root, "").RunAll("N") + "."
	if pipeline := c.Text["pipeline"]; pipeline != "" {
		if err := checkPipeline(root, pipeline, name, c.List["needs"]); err != nil {
			return err
		}
		put = func() (queue.Item, error) { return queue.PutPipeline(home, pipeline, text) }
		same = func(it queue.Item) bool {
			waits, topic, _ := it.Pipeline()
			return waits == pipeline && topic == strings.TrimSpace(text)
		}
		starts = "A person starts them: ferrus pipeline start."
		if conf, err := c.s.Engine().Config(); err == nil && slices.Contains(conf.Pipelines.Allow, pipeline) {
			starts = "ferrus tick starts it without asking: [pipelines] allow has " + pipeline + "."
		}
	}
	waiting, _ := queue.List(home) // files that cannot be read are reported by ferrus run
	i := slices.IndexFunc(waiting, same)
	if c.res.Repeated = i >= 0; !c.res.Repeated {
		it, err := put()
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
	c.res.Message = fmt.Sprintf("Queued as %s; %s. %s", c.res.Queued, wait, starts)
	return nil
}

// checkPipeline refuses a pipeline that the project does not have, and a name and needs for its run.
func checkPipeline(root, pipeline, name string, needs []string) error {
	refused := func(message string, remedy refusal.Own) error {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: message, Remedy: remedy}
	}
	if name != "" {
		return refused("name is of a task's branch, and a pipeline has none", "leave name out")
	}
	if len(needs) > 0 {
		return refused("needs are of a task, and a pipeline has none", "leave needs out")
	}
	text, path, err := project.Workflows(root)
	if err != nil {
		return refused("the pipelines of the project cannot be read: "+err.Error(), "queue a task instead, or ask the person")
	}
	all, err := workflow.Parse(text)
	if err != nil {
		return refused(path+" is not valid", "ask the person to run ferrus pipeline validate")
	}
	if _, ok := all.Find(pipeline); ok {
		return nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	return refused(fmt.Sprintf("the project has no pipeline %.80q", pipeline), refusal.Say("set pipeline to one of %s", strings.Join(names, ", ")))
}
