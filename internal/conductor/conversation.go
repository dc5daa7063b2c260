package conductor

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
)

// A conversation is the session of its client that a new executor continues; the zero one is a new
// session.
type conversation struct {
	session string
	fork    bool // a copy: what the session knows of the work was rolled back since
}

// continuing is the prompt of an agent that continues a session.
const continuing = "executor-continue"

// conversation returns what a new agent of a duty continues, and why. It is the session of the
// newest executor of the task if that is the same agent, has worked and has ended well. Everything
// else begins a new session: the packet of the task has all that is needed. The reason is "" where
// nothing is to be continued.
func (f Facts) conversation(duty agents.Duty, adapter agents.Adapter, model string) (conversation, string) {
	last, ok := newest(f.Runs, agents.Executor)
	if f.Gate.HQ.Continue != config.Native || duty != agents.Executor || !ok {
		return conversation{}, ""
	}
	undone := f.rolledBack() >= last.At
	var not string
	switch {
	case last.Agent != adapter.Name || last.Model != model:
		not = "was another agent"
	case !adapter.Resumes:
		not = "cannot be continued by ferrus"
	case !last.Over() || !last.Stopped && (last.Cut || last.Exit != 0 || last.Trouble != ""):
		not = "did not end well"
	case !agents.IsSession(last.Client):
		not = "did not name its session"
	case f.Journal.Bytes == last.At:
		not = "made no progress"
	case undone && !adapter.Forks:
		not = "knows work that was rolled back"
	}
	if not != "" {
		return conversation{}, "a new session: " + last.Name + " " + not
	}
	return conversation{last.Client, undone}, "continues the session of " + last.Name
}

// newest returns the newest run of a duty.
func newest(runs []process.Run, duty agents.Duty) (r process.Run, ok bool) {
	for _, run := range runs {
		if run.Duty == duty {
			r, ok = run, true
		}
	}
	return r, ok
}

// rolledBack returns where the newest rollback of the task stands in the journal, -1 without one.
func (f Facts) rolledBack() int64 {
	at := int64(-1)
	for _, d := range f.Task.Decisions {
		if strings.HasPrefix(d.ID, handover.RollbackPrefix) {
			at = d.Off
		}
	}
	return at
}
