//go:build unix

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// A life is one server process, from its start to its end, or the person. Its calls follow each other.
type life struct {
	role  state.Role
	agent string // as the journal names it; no two lives share one
	calls []*call
	held  uint64 // the epoch of its newest claim, while its calls are gone through

	killed     bool
	dying      atomic.Bool   // it ends now, or has ended
	ends, gone time.Duration // when it was told to end, and when the process was no more; zero for the person
}

// A call is one call of a tool, or one act of the person, as the caller saw it. Times are since the storm began, by the
// one clock of this process. A killed server does nothing after it is gone, so that is when its last call ends.
type call struct {
	life         *life
	tool         string
	token        string // what only this call says
	about        string // what the caller had been shown, or what the person answers
	begun, ended time.Duration
	lost         bool // the server was killed before it answered
	res          tools.Result
	line         *store.Line // what it wrote; nil when nothing
	rule         *store.Line // what ferrus did by a rule right after that; nil when nothing
}

// writes are the tools that journal an event, and the event. A check's events are the engine's.
var writes = map[string]state.Event{
	"create_task": state.CreateTask, "wait_for_task": state.Claim, "progress": state.Progress, "tell": state.Tell, "consult": state.Consult,
	"respond_consult": state.RespondConsult, "wait_for_consult": state.TakeResponse, "ask_human": state.AskHuman,
	"submit": state.Submit, "approve": state.Approve, "reject": state.Reject, "answer": state.Answer, "reopen": state.Reopen,
	"reset": state.Reset, "release": state.Release,
}

// wrote reports whether the result acknowledges an event.
func (c *call) wrote() bool {
	ev, writer := writes[c.tool]
	if !writer || c.lost || c.res.Code != "" || c.res.Repeated {
		return false
	}
	switch ev {
	case state.Claim:
		return c.res.Status == "claimed" && c.res.Epoch > c.life.held
	case state.TakeResponse:
		return c.res.Status == "answered"
	case state.Submit:
		return c.res.Status == "submitted"
	}
	return true
}

// A writer is on whose behalf lines stand in the journal, and of which event.
type writer struct {
	agent string
	event state.Event
}

// witness finds in the journal the line of every call that wrote one. What was acknowledged must stand there once, what
// was refused not at all; what was lost may. It returns the lines of the engine, which nobody called for by name, and
// what is wrong.
func witness(lives []*life, lines []*store.Line) (engines []*store.Line, wrong []string) {
	blame := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	left := map[writer][]*store.Line{}
	for _, l := range lines {
		if l.Actor.Role == state.Engine || l.Event == state.CheckStarted {
			engines = append(engines, l)
			continue
		}
		w := writer{l.Actor.Agent, l.Event}
		left[w] = append(left[w], l)
	}
	for _, life := range lives {
		for _, c := range life.calls {
			w := writer{life.agent, writes[c.tool]}
			if mine := left[w]; len(mine) > 0 && (c.lost || c.wrote()) {
				c.line, left[w] = mine[0], mine[1:]
				if next := c.line.Seq; next < uint64(len(lines)) && lines[next].Rule != "" {
					c.rule = lines[next]
				}
			}
			switch {
			case c.wrote() && c.line == nil:
				blame("%s was acknowledged and is not in the journal", c)
			case c.line != nil && !c.signed():
				blame("%s is line %d, which is another's: %s %q", c, c.line.Seq, c.line.Event, c.line.Note)
			}
			if c.line != nil && c.line.Event == state.Claim {
				life.held = c.line.Epoch
			}
		}
	}
	for w, more := range left {
		for _, l := range more {
			blame("line %d, %s of %s, was acknowledged to nobody: %q", l.Seq, w.event, w.agent, l.Note)
		}
	}
	return engines, wrong
}

// signed reports whether the line says what the call did.
func (c *call) signed() bool {
	switch {
	case c.line.Event == state.Claim && !c.lost:
		return c.line.Epoch == c.res.Epoch && c.line.Actor.Session == c.res.Claim
	case c.line.Event == state.Claim, c.line.Event == state.TakeResponse:
		return true
	}
	return slices.Contains(signatures(c.line), c.token)
}

// seen is the newest event that the call knew of when it ended; 0 when that is not known.
func (c *call) seen() uint64 {
	if c.line != nil {
		return c.line.Seq
	}
	return c.res.Seq
}

// order is that the journal has the calls as they followed each other in time, and that nobody was shown what was
// older than something acknowledged before. It returns what is wrong.
func order(lives []*life, lines []*store.Line) (wrong []string) {
	blame := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var begun, ended []*call
	for _, l := range lives {
		for _, c := range l.calls {
			if c.seen() > 0 {
				begun, ended = append(begun, c), append(ended, c)
			}
		}
	}
	slices.SortFunc(begun, func(a, b *call) int { return cmp.Compare(a.begun, b.begun) })
	slices.SortFunc(ended, func(a, b *call) int { return cmp.Compare(a.ended, b.ended) })
	var newest *call // of those that had ended
	for _, c := range begun {
		for len(ended) > 0 && ended[0].ended < c.begun {
			if newest == nil || ended[0].seen() > newest.seen() {
				newest = ended[0]
			}
			ended = ended[1:]
		}
		n := c.seen()
		if newest != nil && (n < newest.seen() || c.line != nil && n == newest.seen()) {
			blame("%s, begun at %v, is at %d; %s, ended at %v, was at %d", c, c.begun, n, newest, newest.ended, newest.seen())
		}
		if c.tool == "status" && (n > uint64(len(lines)) || !c.shows(lines[n-1].State)) {
			blame("%s shows what line %d does not have: %+v", c, n, c.res)
		}
	}
	return wrong
}

// shows reports whether a status is that of the task.
func (c *call) shows(t state.Task) bool {
	return c.res.State == t.State && c.res.Epoch == t.Epoch && c.res.ClaimedBy == t.ClaimedBy && *c.res.CheckRetries == t.CheckRetries &&
		*c.res.ReviewCycles == t.ReviewCycles && len(c.res.Paused) == len(t.Paused)
}

func (c *call) String() string {
	how := cmp.Or(string(c.res.Code), c.res.Status, "done")
	if c.lost {
		how = "lost"
	}
	return fmt.Sprintf("%s of %s (%s, %s)", c.tool, c.life.agent, c.token, how)
}

// understandable are the codes that a race or a curious client explains; any other is a bug.
var understandable = append(slices.Clip(races), refusal.ForbiddenRole)
