package main

import (
	"fmt"
	"os"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// A step is a call of one of the two agents of ferrus.
type step struct {
	supervisor bool
	call
}

// toApproval is a task of ferrus, from its creation to its approval, with one check.
var toApproval = []step{
	{true, call{"create_task", map[string]any{"description": task}}},
	{false, call{"wait_for_task", nil}},
	{false, call{"check", nil}},
	{false, call{"submit", map[string]any{"summary": summary, "verification": verification, "no_change": "it was so"}}},
	{true, call{"review_pending", nil}},
	{true, call{"approve", nil}},
}

const (
	task         = "Make Sum give 0 for an empty slice. go test ./... must be green, and the empty slice must have a test."
	summary      = "Sum returns 0 for an empty slice; TestSumOfNothing is new."
	verification = "go test ./... is green."
)

// flows takes one task of each system from its beginning to done, and counts what the models say and read.
func (l *lab) flows() error {
	for _, s := range l.systems {
		var err error
		switch {
		case s.Name == "ferrus":
			err = l.ferrusFlow(s)
		case s.Flow != nil:
			err = l.flow(s)
		}
		if err = l.failed(s, err); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) ferrusFlow(s system) error {
	dir, err := l.begin(s, 0)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	executor, err := open(l.ctx, s.Server(dir))
	if err != nil {
		return err
	}
	defer executor.Kill()
	super, err := open(l.ctx, supervisor(s).Server(dir))
	if err != nil {
		return err
	}
	defer super.Kill()
	who := map[bool]*mcpclient.Client{true: super, false: executor}
	said := 0
	for _, st := range toApproval {
		n, err := l.say(who[st.supervisor], st.call)
		if err != nil {
			return err
		}
		said += n
	}
	if res, err := super.Call(l.ctx, "status", nil); err != nil || res.State != "Complete" {
		return fmt.Errorf("it is %s: %v", res.State, err)
	}
	return l.sum(s, len(toApproval), said, executor, super)
}

func (l *lab) flow(s system) error {
	dir, err := l.begin(s, 0)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := open(l.ctx, s.Server(dir))
	if err != nil {
		return err
	}
	defer c.Kill()
	said, calls := 0, s.Flow(dir)
	for _, ca := range calls {
		n, err := l.say(c, ca)
		if err != nil {
			return err
		}
		said += n
	}
	return l.sum(s, len(calls), said, c)
}

// say makes a call that must succeed and returns its bytes: the tool and its arguments, and the result's text.
func (l *lab) say(to *mcpclient.Client, c call) (int, error) {
	text, err := c.try(l.ctx, to)
	return size(c) + len(text), err
}

func (l *lab) sum(s system, calls, said int, clients ...*mcpclient.Client) error {
	shown := 0
	for _, c := range clients {
		list, err := l.list(c)
		if err != nil {
			return err
		}
		shown += list.shown
	}
	l.results.add("Flow "+s.Name+"-calls", float64(calls))
	l.results.add("Flow "+s.Name+"-said-bytes", float64(said))
	l.results.add("Flow "+s.Name+"-list-bytes", float64(shown))
	return nil
}
