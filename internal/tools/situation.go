package tools

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A situation has the facts that decide, with the catalogue, what a caller may do and should do
// next.
type situation struct {
	role     state.Role // Supervisor, Executor or None
	as       state.Role // Holder for the executor that has the claim
	task     state.Task
	headless bool
	tool     string // the called tool

	work                     bool // this headless executor could claim work
	submission, consultation bool // this session was shown the present one
	own                      bool // the open question is this role's
	delegates                bool // this task may have delegates
	begun                    bool // the call has begun a check, which may not be in the state yet
}

func (c *call) situation() situation {
	t := c.snap.Task
	in := situation{role: c.opts.Role, as: c.s.As(t), task: t, headless: c.opts.Headless, tool: c.tool.Name}
	in.submission, in.consultation = c.s.Shown(t)
	id := c.s.Asked(t)
	in.own = id != "" && t.Top().ID == id
	if gate, err := c.s.Engine().Gate(*c.snap); err == nil && c.opts.Delegates != nil {
		in.delegates = gate.Limits.MaxDelegates > 0
	}
	in.begun = c.res.Status == string(state.CheckRunning) && (c.tool.Name == "check" || c.tool.Name == "submit")
	in.work = in.headless && in.as == state.Executor && c.s.Engine().Claimable(*c.snap) && !c.s.Replaced(t)
	return in
}

// offers reports whether a call of the tool would be allowed.
func (in situation) offers(t Tool) bool {
	if !t.For(in.role) || t.open != nil && !t.open(in) {
		return false
	}
	if t.Look() {
		return true
	}
	can := state.Allowed(in.task, in.as)
	for _, ev := range t.Events {
		if slices.Contains(can, ev) || ev == state.TakeResponse && in.consulting() {
			return true
		}
	}
	return false
}

// consulting reports whether the executor may wait for a supervisor's answer that has not come yet.
func (in situation) consulting() bool {
	return in.as == state.Holder && in.task.InConsultation()
}

// allowed returns the tools that would be allowed, sorted. It omits those that always are, and next
// if that is a tool.
func (in situation) allowed(next string) []string {
	names := []string{}
	for _, t := range Catalogue() {
		if !t.aside && in.offers(t) || t.Name == next {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

func submissionShown(in situation) bool   { return in.submission }
func consultationShown(in situation) bool { return in.consultation }
func noCheckRuns(in situation) bool       { return in.task.Check.Status != state.CheckRunning }
