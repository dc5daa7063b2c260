package stack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// Records are the records of a machine, by run, the oldest first. An agent without runs, and what an
// agent did outside of its runs, is an element without a run. The output of clients is read later.
type Records []*Facts

// Gather reads the records of a machine, and of its pipelines if it is the project's own. A journal
// that is damaged is read as far as it is valid: then there are records and an error.
func Gather(e *engine.Engine) (Records, error) {
	calls, err := gate.ReadLog(e.Place().Path("logs"))
	if err != nil {
		return nil, err
	}
	list, err := taskRuns(e)
	if err != nil {
		return nil, err
	}
	list = assignCalls(list, calls)
	var titles map[string]string
	list, titles, err = journal(e, list)
	for _, f := range list {
		if f.Run != "" {
			f.Told = strings.TrimSpace(f.Duty + " for the task: " + cmp.Or(titles[f.Task], f.Task))
		}
	}
	if e.Place().Branch == "" {
		more, err2 := pipelines(e)
		list, err = append(list, more...), errors.Join(err, err2)
	}
	slices.SortStableFunc(list, func(a, b *Facts) int { return a.first().Compare(b.first()) })
	return list, err
}

// taskRuns returns the runs of all tasks of a machine.
func taskRuns(e *engine.Engine) (Records, error) {
	dir := e.Place().Path("runs")
	entries, err := rootfs.ListOwn(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list Records
	for _, entry := range entries {
		task, ok := strings.CutSuffix(entry.Name(), ".jsonl")
		if !ok {
			continue
		}
		runs, err := process.Runs(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			f := factsOf(r, task, fmt.Sprintf("%s:%s:1", r.Duty.Role(), r.Agent))
			f.read = func() ([]agents.Note, error) { return notes(r.Agent, r.Log) }
			list = append(list, f)
		}
	}
	return list, nil
}

// factsOf returns what the record of a run says.
func factsOf(r process.Run, task, agent string) *Facts {
	f := &Facts{Name: task + "/" + r.Name, Agent: agent, Duty: string(r.Duty), Run: r.Name, Task: task, Began: r.Started, Ended: r.Ended}
	switch {
	case r.Error != "":
		f.End = r.Error
	case r.Signal != "":
		f.End = "ended by " + r.Signal
	default:
		f.End = fmt.Sprintf("exit status %d", r.Exit)
	}
	f.End = safetext.Line(f.End)
	return f
}

// notes reads the output of a client. A log that is gone says nothing.
func notes(agent, path string) ([]agents.Note, error) {
	file, err := rootfs.OpenOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := agents.ReaderOf(agent)
	var all []agents.Note
	for piece := make([]byte, 64<<10); err == nil; {
		var n int
		n, err = file.Read(piece)
		all = speeches(all, r.Feed(piece[:n]))
	}
	return speeches(all, r.End()), nil
}

// speeches appends notes, and makes one of those in which the agent goes on to speak: each line of a
// program is such a note.
func speeches(all, more []agents.Note) []agents.Note {
	speech := func(n agents.Note) bool { return n.Kind == agents.Raw || n.Kind == agents.Speech }
	for _, n := range more {
		if last := len(all) - 1; last >= 0 && speech(all[last]) && speech(n) {
			all[last].Text = longer(all[last].Text, n)
			continue
		}
		all = append(all, n)
	}
	return all
}

// assignCalls gives each run its calls, and adds an element for each agent with other calls. A line
// of an older server names no run: it belongs to the run of that agent at its time.
func assignCalls(list Records, calls []gate.LoggedCall) Records {
	for _, c := range calls {
		if c.Agent == "" {
			continue
		}
		i := slices.IndexFunc(list, func(f *Facts) bool {
			return f.Agent == c.Agent && f.Run != "" && (c.Run == f.Run || c.Run == "") && f.during(c.Start())
		})
		if i < 0 {
			list, i = list.without(c.Agent)
		}
		list[i].Calls = append(list[i].Calls, c)
	}
	return list
}

// without returns the number of the element of an agent without a run, which it adds if it is missing.
func (list Records) without(agent string) (Records, int) {
	i := slices.IndexFunc(list, func(f *Facts) bool { return f.Agent == agent && f.Run == "" })
	if i >= 0 {
		return list, i
	}
	role, _, _ := strings.Cut(agent, ":")
	return append(list, &Facts{Agent: agent, Duty: role}), len(list)
}

// journal adds the entries of the journal: to the run of the agent that made them, and what a person
// or another agent said to each run at its time. It also returns the titles of the tasks.
func journal(e *engine.Engine, list Records) (Records, map[string]string, error) {
	titles := map[string]string{}
	for l, err := range e.Store().History() {
		if err != nil {
			return list, titles, err
		}
		titles[l.State.TaskID] = safetext.Line(l.State.Title)
		if l.Event == state.Branch && l.State.Branch == e.Place().Branch {
			list = list.forget() // the entries before it are those of another machine
		}
		list = list.event(l)
		if said, ok := heard(l); ok {
			for _, f := range list.listeners(l, said.Kind) {
				said.Agent, said.Run, said.Task = f.Agent, f.Run, l.State.TaskID
				f.Heard = append(f.Heard, said)
			}
		}
	}
	return list, titles, nil
}

// listeners returns the runs that an entry may be said to: a message to the newest run of the agent
// that has the task, an answer to all others than its author, of which the stack finds who asked.
func (list Records) listeners(l *store.Line, kind Kind) Records {
	var all Records
	for _, f := range list {
		switch {
		case f.Agent == l.Actor.Agent || !f.during(l.At):
		case kind != UserMessage:
			all = append(all, f)
		case f.Agent == l.State.ClaimedBy && (all == nil || !f.Began.Before(all[0].Began)):
			all = Records{f}
		}
	}
	return all
}

// forget removes all entries of the journal.
func (list Records) forget() Records {
	for _, f := range list {
		f.Events, f.Heard = nil, nil
	}
	return slices.DeleteFunc(list, func(f *Facts) bool { return f.Run == "" && len(f.Calls) == 0 })
}

// event gives a line of the journal to the run that made it. Only agents have stacks.
func (list Records) event(l *store.Line) Records {
	if l.Actor.Role != state.Executor && l.Actor.Role != state.Supervisor {
		return list
	}
	ev := Event{l.Seq, string(l.Event), string(l.From), string(l.To), l.At, l.State.TaskID}
	i := slices.IndexFunc(list, func(f *Facts) bool {
		return f.Agent == l.Actor.Agent && slices.ContainsFunc(f.Calls, ev.within)
	})
	if i < 0 {
		i = slices.IndexFunc(list, func(f *Facts) bool { return f.Agent == l.Actor.Agent && f.Run != "" && f.during(l.At) })
	}
	if i < 0 {
		list, i = list.without(l.Actor.Agent)
	}
	list[i].Events = append(list[i].Events, ev)
	return list
}

// heard returns what an entry of the journal says to an agent.
func heard(l *store.Line) (Entry, bool) {
	e := Entry{At: l.At, Events: []Event{{Seq: l.Seq, Event: string(l.Event), From: string(l.From), To: string(l.To)}}}
	switch l.Event {
	case state.Answer:
		e.Kind, e.Text = UserResponse, l.Docs[state.AnswerDoc]
	case state.RespondConsult:
		e.Kind, e.Text = AgentResult, l.Docs[state.ConsultResponseDoc]
	case state.Steer:
		e.Kind, e.Text = UserMessage, l.Note
	case state.Tell:
		e.Kind, e.Text = UserMessage, l.Actor.Agent+": "+l.Note
	default:
		return e, false
	}
	e.Text = safetext.Clean(e.Text)
	return e, true
}

// first returns the time of the oldest record of the run.
func (f *Facts) first() time.Time {
	at := f.Began
	earlier := func(t time.Time) {
		if at.IsZero() || !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if f.Run == "" && len(f.Calls) > 0 {
		earlier(f.Calls[0].Start())
	}
	if f.Run == "" && len(f.Events) > 0 {
		earlier(f.Events[0].at)
	}
	return at
}

// last returns the time of the newest record of the run.
func (f *Facts) last() time.Time {
	at := f.Ended
	for _, c := range f.Calls {
		if c.End.After(at) {
			at = c.End
		}
	}
	for _, e := range f.Events {
		if e.at.After(at) {
			at = e.at
		}
	}
	return at
}

// A Summary is what has a stack, in a line.
type Summary struct {
	Name  string    `json:"name"`  // what ferrus stack takes
	Agent string    `json:"agent"` // role:name:index
	Run   string    `json:"run,omitempty"`
	Task  string    `json:"task,omitempty"`
	Began time.Time `json:"began,omitzero"`
	Last  time.Time `json:"last,omitzero"` // the end, or the newest record
	Over  bool      `json:"over"`
	Calls int       `json:"calls"` // of our tools
}

// Summaries returns all that have a stack, the newest last.
func (list Records) Summaries() []Summary {
	all := []Summary{}
	for _, f := range list {
		all = append(all, Summary{cmp.Or(f.Name, f.Agent), f.Agent, f.Run, f.Task, f.first(), f.last(), !f.Ended.IsZero(), len(f.Calls)})
	}
	return all
}

// Find returns the records that a name means: a run as TASK/RUN or RUN/WORKER-N, a run alone, which
// is the newest of that name, an agent as role:name:index, or a duty. It is empty for none.
func (list Records) Find(name string) Records {
	for _, f := range slices.Backward(list) {
		if f.Name == name || f.Run == name {
			return Records{f}
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(f *Facts) bool { return f.Agent != name && f.Duty != name })
}

// Stack joins the records to one stack. The error of a command whose entries are refused comes with
// the entries before it.
func (list Records) Stack() ([]Entry, error) {
	var s Stack
	for _, f := range list {
		if f.read != nil && f.Command == "" {
			said, err := f.read()
			if err != nil {
				return s.Entries, err
			}
			f.Notes = said
		}
		if err := s.Join(*f); err != nil {
			return s.Entries, err
		}
	}
	return s.Entries, nil
}
