package sharing

import (
	"context"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/queue"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// Return moves all machines of the project at root and its queue from its database into files of this computer. No other computer can use the project
// afterwards. A call that was cut off is finished by the same one.
func Return(ctx context.Context, root string) (Moved, error) {
	main := project.At(root, "")
	at, err := main.Shared()
	if err != nil {
		return Moved{}, err
	}
	if at == nil {
		return Moved{}, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in its files", Person: true, Remedy: "ferrus store move URL moves it into a database"}
	}
	if _, err := queue.Collect(main.Dir()); err != nil && refusal.CodeOf(err) != refusal.NotInitialised {
		return Moved{}, refusal.From(err)
	}
	places, err := machines(root)
	if err != nil {
		return Moved{}, err
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return Moved{}, refusal.From(err)
	}
	did := Moved{Project: at.Project, Name: filepath.Base(root), URL: at.URL, Machines: len(places)}
	ends := map[string]store.Position{}
	for _, p := range places {
		if err := idle(p); err != nil {
			return did, err
		}
		if err := os.MkdirAll(p.Dir(), 0o700); err != nil {
			return did, refusal.Folder(err)
		}
		if ends[p.Branch], err = at.Receive(ctx, p); err != nil {
			return did, refusal.From(err)
		}
	}
	if err := d.Retire(ctx, at.Project, ends); err != nil {
		return did, refusal.From(err)
	}
	for _, p := range places {
		if err := file.Accept(p.Dir()); err != nil {
			return did, refusal.From(err)
		}
	}
	if did.Queued, err = queue.MoveOut(main.Dir()); err != nil {
		return did, refusal.From(err)
	}
	if err := main.Share(nil); err != nil {
		return did, err
	}
	for _, p := range places {
		if err := adopt(p, &did.Events); err != nil {
			return did, err
		}
	}
	return did, nil
}

// idle refuses a machine whose work somebody holds. One that is not used any more has nobody.
func idle(p project.Place) error {
	m, err := p.Open(project.StoreOptions{ReadOnly: true})
	if refusal.CodeOf(err) == refusal.NotInitialised {
		return nil
	}
	if err != nil {
		return refusal.From(err)
	}
	defer m.Close()
	now, err := m.View()
	if err == nil && now.Task.ClaimedBy != "" {
		return held(p, now.Task.ClaimedBy)
	}
	return refusal.From(err)
}

// adopt makes the other files of a machine that has come in a journal, and records its first line as one of this computer's.
func adopt(p project.Place, events *uint64) error {
	if _, err := project.Create(p, project.StoreOptions{}); err != nil {
		return err
	}
	m, err := p.Open(project.StoreOptions{})
	if err != nil {
		return refusal.From(err)
	}
	defer m.Close()
	now, err := m.View()
	if err != nil || now.Top == nil {
		return refusal.From(err)
	}
	*events += now.Task.Seq
	return seen(p, m, now)
}
