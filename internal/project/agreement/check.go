package agreement

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Machine is what Check asks when a person has agreed to nothing yet.
type Machine interface {
	View() (store.Snapshot, error)
	Gate(store.Snapshot) (config.Gate, error) // what the task is frozen with
	Store() store.Machine
}

// Check returns nil when a person has agreed to values that the files of the project at root make run, and for a nil record.
// The error is an *UntrustedError.
func Check(record *trust.Project, root string, m Machine, values []trust.Value) error {
	if record == nil {
		return nil
	}
	ok, err := record.Agreed(values)
	if err == nil && !ok && len(values) == 0 {
		ok, err = nothingToAgree(record, m)
	}
	if ok && err == nil {
		return nil
	}
	if err != nil {
		return unreadable(root, values, err)
	}
	r, _, err := record.Record()
	if err != nil {
		return unreadable(root, values, err)
	}
	u := UntrustedError{Values: values}
	if newest, ok := r.Newest(); ok {
		u.Was = newest.Values
	} else {
		u.Tasks, u.Frozen = tasks(m.Store()), frozen(m, values)
	}
	return u.in(root)
}

// nothingToAgree is the case of a project whose files make nothing run: a new one is ours by its first task, and one that
// has tasks without a record here is adopted by a person.
func nothingToAgree(record *trust.Project, m Machine) (bool, error) {
	known, err := record.Known()
	if err != nil || known {
		return known, err
	}
	snap, err := m.View()
	if err != nil || snap.Task.Seq > 0 {
		return false, err
	}
	return true, record.Agree(nil)
}

// frozen are the values that the task in progress was frozen with and that differ from those of the files.
func frozen(m Machine, now []trust.Value) []trust.Value {
	snap, err := m.View()
	if err != nil || !snap.Task.Underway() {
		return nil
	}
	gate, err := m.Gate(snap)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(gate.Executable(), func(v trust.Value) bool {
		return slices.ContainsFunc(now, func(is trust.Value) bool { return is.Key == v.Key && is.Value == v.Value })
	})
}

// Accept records a person's word on the part of the configuration that is frozen with a task. What was agreed to of the rest
// stays as it was: the person has not seen more. For a nil record it does nothing.
func Accept(record *trust.Project, conf config.Config) error {
	if record == nil {
		return nil
	}
	r, _, err := record.Record()
	if err != nil {
		return err
	}
	newest, _ := r.Newest()
	values := conf.Gate().Executable()
	for _, v := range newest.Values {
		same := func(is trust.Value) bool { return is.Key == v.Key }
		if !config.InGate(v.Key) && !slices.ContainsFunc(values, same) {
			values = append(values, v)
		}
	}
	return record.Agree(values)
}

// tasks counts the tasks of a journal, as far as it can be read: what a person adopts with an agreement.
func tasks(s store.Machine) (n int) {
	for l, err := range s.History() {
		if err != nil {
			break
		}
		if l.Event == state.CreateTask {
			n++
		}
	}
	return n
}
