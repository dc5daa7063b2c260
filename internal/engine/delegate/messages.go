package delegate

import (
	"errors"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Messages returns what other machines have sent to the executor of e's task t: the executors of its open delegates, to whom
// it is the supervisor, and the executor that t is a delegate of. They stand in the journal of their sender's machine and
// nowhere else, so none is lost or doubled on the way. Each ID is unique among all that the executor can read. Where there are
// no relatives nothing is opened.
func Messages(e *engine.Engine, t state.Task) (list []handover.Message, err error) {
	if t.Parent.ID != "" {
		list, err = fromParent(e, t)
	}
	for _, d := range t.OpenDelegates() {
		more, wrong := fromDelegate(e, d)
		list, err = append(list, more...), errors.Join(err, wrong)
	}
	return list, err
}

func fromParent(e *engine.Engine, t state.Task) ([]handover.Message, error) {
	on := project.At(e.Place().Root, t.Parent.Branch)
	parent, err := e.Beside(on)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	now, err := parent.View()
	if err != nil {
		return nil, err
	}
	// Ids are counted anew in every task of the parent; names of branches are not.
	if d, ok := now.Task.Delegate(t.Parent.ID); !ok || d.Branch != e.Place().Branch {
		return nil, nil
	}
	return read(parent, now.Task.MessagesTo(t.Parent.ID), "parent")
}

func fromDelegate(e *engine.Engine, d state.Delegate) ([]handover.Message, error) {
	child, err := Open(e, d)
	if code := refusal.CodeOf(err); code == refusal.UnknownBranch || code == refusal.WrongState {
		return nil, nil // it is not there yet, or not any more
	}
	if err != nil {
		return nil, err
	}
	defer child.Close()
	now, err := child.View()
	if err != nil {
		return nil, err
	}
	if p := now.Task.Parent; p.ID != d.ID || p.Branch != e.Place().Branch {
		return nil, nil
	}
	return read(child, now.Task.MessagesTo(string(state.Supervisor)), d.ID)
}

// read returns messages of a machine, which its relative knows by a name.
func read(of *engine.Engine, list []state.Message, name string) ([]handover.Message, error) {
	var out []handover.Message
	for _, m := range list {
		text, err := handover.ReadMessage(of.Store(), m)
		if err != nil {
			return out, err
		}
		text.ID, text.From = name+"-"+text.ID, text.From+" of "+name
		out = append(out, text)
	}
	return out, nil
}
