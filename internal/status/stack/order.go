package stack

import (
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A step is an entry on its way into the stack.
type step struct {
	Entry
	dated bool  // At is known
	call  *step // of a result: its call
}

// order returns the entries of a run in their order, each with a time. The output of the client has
// the order of all that the agent did, but often no times; the other records have times. Calls that
// are in both connect them.
func (f *Facts) order() []Entry {
	steps := f.fromNotes()
	answered := f.match(steps)
	var more []*step
	for i, c := range f.Calls {
		if answered[i] == nil {
			call := &step{Entry: f.entry(ToolCall, c.Start(), ""), dated: true}
			call.Tool, call.Args = c.Tool, c.Args
			more = append(more, call)
			answered[i] = f.result(c, call)
			more = append(more, answered[i])
		} else if !slices.Contains(steps, answered[i]) {
			more = append(more, answered[i])
		}
	}
	for _, e := range f.Events {
		if i := f.caller(e); i >= 0 {
			answered[i].Events = append(answered[i].Events, e)
			continue
		}
		call, result := &step{Entry: f.entry(ToolCall, e.at, ""), dated: true}, &step{Entry: f.entry(ToolResult, e.at, ""), dated: true}
		call.Tool, result.Tool, result.Events = e.Event, e.Event, []Event{e}
		more = append(more, call, result)
	}
	for _, e := range f.Heard {
		for _, c := range f.Calls { // an answer can come before the call that asks has returned
			if requests[c.Tool].answers == e.Kind && e.At.After(c.Start()) && e.At.Before(c.End) {
				e.At = c.End
			}
		}
		more = append(more, &step{Entry: e, dated: true})
	}
	slices.SortStableFunc(more, func(a, b *step) int { return a.At.Compare(b.At) })
	return dated(merge(steps, more), f.Began)
}

// caller returns the call that raised an event, -1 if it is not in the log. Lines of older servers
// say only when: if several calls fit, it is the one of the tool that raises such an event.
func (f *Facts) caller(e Event) int {
	for i, c := range f.Calls {
		if e.within(c) && c.Tool == e.Event {
			return i
		}
	}
	return slices.IndexFunc(f.Calls, e.within)
}

// within reports whether an event of the journal was raised by a call: at its time, in its task, and
// not after the newest entry that the call has seen.
func (e Event) within(c gate.LoggedCall) bool {
	slack := slack
	if c.Began.IsZero() {
		slack = late
	}
	return (c.Task == "" || c.Task == e.task) && (c.Seq == 0 || c.Seq >= e.Seq) &&
		!e.at.Before(c.Start().Add(-slack)) && !e.at.After(c.End)
}

// maxText bounds the text of one entry, in bytes.
const maxText = 64 << 10

// fromNotes returns the steps that the output of the client shows.
func (f *Facts) fromNotes() []*step {
	var list, open []*step
	for _, n := range f.Notes {
		e := &step{Entry: f.entry(AssistantMessage, n.At, n.Text), dated: !n.At.IsZero() && f.during(n.At)}
		switch n.Kind {
		case agents.Info:
			continue
		case agents.Call:
			e.Kind, e.Via, e.Args = ToolCall, "", n.Args
			e.Tool = strings.TrimPrefix(n.Tool, ours)
			open = append(open, e)
		case agents.Answer, agents.Error:
			if len(open) > 0 {
				e.Kind, e.Via, e.Tool, e.call, open = ToolResult, "", open[0].Tool, open[0], open[1:]
			}
			if n.Kind == agents.Error {
				e.Code = "error"
			}
		default:
			if last := len(list) - 1; last >= 0 && list[last].Kind == AssistantMessage && list[last].Code == "" {
				list[last].Text = longer(list[last].Text, n)
				continue
			}
		}
		list = append(list, e)
	}
	return list
}

// ours is how the output of a client names our tools.
const ours = agents.ServerName + " "

// longer returns a speech with what the agent said next.
func longer(text string, n agents.Note) string {
	if len(text) > maxText {
		return text
	}
	if !n.More {
		text += "\n"
	}
	if text += n.Text; len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// match finds the calls of our tools in the output of the client and gives them the facts of the
// log. It returns the result of each call that it found.
func (f *Facts) match(steps []*step) []*step {
	answered := make([]*step, len(f.Calls))
	from := 0
	for _, e := range steps {
		if e.Kind != ToolCall {
			continue
		}
		i := f.find(e, from)
		if i < 0 {
			continue
		}
		from = i + 1
		c := f.Calls[i]
		e.At, e.dated = c.Start(), true
		result := f.result(c, e)
		if at := slices.IndexFunc(steps, func(r *step) bool { return r.call == e }); at >= 0 {
			steps[at].At, steps[at].dated, steps[at].Status, steps[at].Code = c.End, true, c.Status, c.Code
			result = steps[at]
		}
		answered[i] = result
	}
	return answered
}

// find returns the first call from a number on that can be the one in the output, by its tool and its
// arguments; -1 for none. A line of an older server has no digest.
func (f *Facts) find(e *step, from int) int {
	for i := from; i < len(f.Calls); i++ {
		if c := f.Calls[i]; c.Tool == e.Tool && (c.Args == "" || c.Args == e.Args) {
			return i
		}
	}
	return -1
}

// result returns the result of a call in the log.
func (f *Facts) result(c gate.LoggedCall, call *step) *step {
	r := &step{Entry: f.entry(ToolResult, c.End, ""), dated: true, call: call}
	r.Tool, r.Status, r.Code = c.Tool, c.Status, c.Code
	return r
}

// merge inserts steps with times before the first dated step that is later.
func merge(steps, more []*step) []*step {
	var all []*step
	for _, e := range steps {
		for e.dated && len(more) > 0 && more[0].At.Before(e.At) {
			all, more = append(all, more[0]), more[1:]
		}
		all = append(all, e)
	}
	return append(all, more...)
}

// dated returns the entries of steps. One without a time has that of the step before it.
func dated(steps []*step, began time.Time) []Entry {
	var all []Entry
	for _, e := range steps {
		if e.dated {
			began = e.At
		} else {
			e.At, e.Approx = began, true
		}
		all = append(all, e.Entry)
	}
	return all
}
