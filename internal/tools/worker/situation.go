package worker

import (
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// A situation decides what a worker may do and should do next.
type situation struct {
	binding
	over    bool // the attempt no longer counts, or the run does not exist
	away    bool // it is the turn of another worker
	missing bool // at least one of its inputs
	written bool // its output exists, or its turn is written
	waits   bool // it has asked a person, and does not have the answer
	left    int  // remaining seconds
}

func (c *call) situation() situation {
	in := situation{binding: c.who, over: true}
	if c.open() != nil {
		return in
	}
	a, err := c.d.Assignment(time.Now())
	if err != nil {
		return in
	}
	in.over, in.left = false, a.Left
	for _, i := range a.Inputs {
		in.missing = in.missing || !i.Ready
	}
	in.away, in.written = c.said()
	in.waits = c.who.asks && c.d.Waits(time.Now())
	return in
}

// said reports whether it is another worker's turn, and whether this worker's output exists or its
// turn is written.
func (p *place) said() (away, done bool) {
	k, phase := p.f.Workflow.Worker(p.opts.Worker)
	if p.f.Workflow.Phases[phase].How() != workflow.Talking {
		size, there := p.f.Written(k.File())
		return false, there && size >= k.Least()
	}
	text, err := p.f.Dialogue()
	if err != nil || text == nil {
		return true, false
	}
	talk, err := pipeline.DecodeDialogue(text)
	if err != nil { // another process has damaged it; the next write starts from ferrus's own copy
		return false, false
	}
	return talk.Turn != p.opts.Worker, !talk.Open()
}

// A step is one row of the table of next calls: the first row whose condition is true counts.
type step struct {
	when func(situation) bool
	next string
}

var steps = []step{
	{func(in situation) bool { return in.over || in.away }, "stop"},
	{func(in situation) bool { return in.missing }, "wait_for_inputs"},
	{func(in situation) bool { return in.waits && !in.written }, "wait_for_answer"},
	{func(in situation) bool { return !in.written }, "write_output"},
	{func(in situation) bool { return in.terminal }, "deliver"},
	{func(situation) bool { return true }, "stop"},
}

// next returns the tool to call next, or "stop".
func (in situation) next() string {
	return steps[slices.IndexFunc(steps, func(s step) bool { return s.when(in) })].next
}

// closed has, by tool, the condition under which an attempt that counts must not call it.
var closed = map[string]func(situation) bool{
	"write_output": func(in situation) bool { return in.away },
	"ask_human":    func(in situation) bool { return in.waits || in.written },
	"deliver":      func(in situation) bool { return !in.written },
}

// offers reports whether a call of the tool would be allowed.
func (in situation) offers(t Tool) bool {
	return !in.over && in.has(t.Name) && (closed[t.Name] == nil || !closed[t.Name](in))
}

// allowed returns the tools that would be allowed, sorted, and next if that is a tool.
func (in situation) allowed(next string) []string {
	names := []string{}
	for _, t := range Catalogue() {
		if in.offers(t) || t.Name == next {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}
