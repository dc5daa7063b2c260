package sharing

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Return moves all machines of the project at root and its queue from its database into files of this computer. One computer can do so; on any other the error says
// which one has done it. Nothing may be at work on any computer, and the newest files of each task must be here. No other computer can use the project afterwards.
// A call that was cut off is finished by the next one. A move into the database that was cut off before the project had arrived is given up.
//
// First the journals are written beside their places. Then one transaction takes the project out of the database, on condition that the journals end there. Then
// they are put into their places.
func Return(ctx context.Context, root string) (did Moved, err error) {
	main := project.At(root, "")
	lock, err := alone(main)
	if err != nil {
		return did, err
	}
	defer lock.Close()
	arriving, err := main.Arriving()
	if err == nil && arriving != nil {
		err = turnBack(ctx, main, arriving)
	}
	if err != nil {
		return did, err
	}
	if at, err := main.Returned(); err != nil || at != nil { // all is in its place already
		if err == nil {
			did = Moved{Project: at.Project, Name: filepath.Base(root), URL: at.URL}
			err = main.Share(nil)
		}
		return did, err
	}
	at, err := main.Shared()
	if err != nil {
		return did, err
	}
	if at == nil {
		return did, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in its files", Person: true, Remedy: "ferrus store move URL moves it into a database"}
	}
	d, err := at.Database(ctx, nil)
	if err != nil {
		return did, err
	}
	is, err := d.Whereabouts(ctx, at.Project)
	if err != nil {
		return did, err
	}
	switch {
	case is.There():
		if _, err := queue.Collect(main.Dir()); err != nil {
			return did, err
		}
	case !is.Taken():
		return did, is.Refusal()
	}
	places, err := machines(root)
	if err != nil {
		return did, err
	}
	did = Moved{Project: at.Project, Name: filepath.Base(root), URL: at.URL, Machines: len(places)}
	if is.There() {
		if err := ready(ctx, d, at, places); err != nil {
			return did, err
		}
	}
	ends := map[string]store.Position{}
	for _, p := range places {
		if err := os.MkdirAll(p.Dir(), 0o700); err != nil {
			return did, refusal.Folder(err)
		}
		if ends[p.Branch], err = at.Receive(ctx, p); err != nil {
			return did, err
		}
		reached(ctx, "received "+p.Branch)
	}
	busy, err := d.Retire(ctx, at.Project, ends, alive(root))
	if err == nil {
		err = atWork(busy)
	}
	if err != nil {
		return did, err
	}
	reached(ctx, "retired")
	return did, land(ctx, places, ends, &did)
}

// turnBack gives up a move into the database that was cut off. It always returns an error, which says so.
func turnBack(ctx context.Context, main project.Place, at *project.Shared) error {
	places, err := inFiles(main)
	if err != nil {
		return err
	}
	if main.InDatabase() { // it may have been sent
		d, err := at.Database(ctx, nil)
		if err != nil {
			return err
		}
		if err := withdraw(ctx, d, at, places); err != nil {
			return err
		}
	} else if err := stay(places); err != nil {
		return err
	}
	return givenUp(main)
}

// ready refuses a move to this computer while something is at work, or where the newest files of a task are elsewhere.
func ready(ctx context.Context, d *postgres.Database, at *project.Shared, places []project.Place) error {
	busy, err := d.Working(ctx, at.Project, alive(at.Root))
	if err != nil {
		return err
	}
	local, err := here(places, nil)
	if err != nil {
		return err
	}
	named := func(w postgres.Work) bool { // the database knows more of it
		return slices.ContainsFunc(busy, func(b postgres.Work) bool {
			return b.Here && b.Branch == w.Branch && (b.What == w.What || w.What == server.What)
		})
	}
	if err := atWork(append(busy, slices.DeleteFunc(local, named)...)); err != nil {
		return err
	}
	for _, p := range places {
		m, err := p.Open(project.StoreOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		now, err := m.View()
		if err == nil {
			err = idle(p, now)
		}
		if err == nil {
			err = whole(p, now)
		}
		m.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// whole refuses a machine whose newest files are not on this computer, if they are still needed: the journal does not go where its files are not.
func whole(p project.Place, now store.Snapshot) error {
	over := now.Task.Merged != ""
	if p.Branch == "" { // its work tree is a person's, who has what is over
		over = now.Task.State == state.Idle || now.Task.State == state.Complete
	}
	if over {
		return nil
	}
	lacks := p.HasFiles(now.Files)
	if lacks == nil {
		return nil
	}
	r := *refusal.Of(lacks)
	r.Person = true
	if p.Branch == "" {
		r.Remedy = "nothing was changed: run ferrus store move --files on that computer, or end the task first: ferrus reset{branch}"
	} else {
		r.Remedy = refusal.Say("nothing was changed: ferrus branch --fetch %s brings them, ferrus branch --remove %s gives them up; or run ferrus store move --files on the computer that has them", p.Branch, p.Branch)
	}
	return &r
}

// land puts the journals into their places, after the project was taken out of the database, and lets this computer use them.
func land(ctx context.Context, places []project.Place, ends map[string]store.Position, did *Moved) (err error) {
	for _, p := range places {
		put := file.Accept
		if file.Has(p.Dir(), ends[p.Branch]) { // and perhaps more, by a call that was cut off late
			put = file.Drop
		}
		if err := put(p.Dir()); err != nil {
			return err
		}
		reached(ctx, "accepted "+p.Branch)
	}
	main := places[0]
	if did.Queued, err = queue.MoveOut(main.Dir()); err != nil {
		return err
	}
	reached(ctx, "queue written")
	for _, p := range slices.Backward(places) { // the project's own last: until then the same call goes on
		if err := adopt(p, &did.Events); err != nil {
			return err
		}
		reached(ctx, "adopted "+p.Branch)
	}
	return main.Share(nil)
}

// adopt records the first line of a machine that has come in a journal as one of this computer's, and makes its other files.
func adopt(p project.Place, events *uint64) error {
	if err := file.Thaw(p.Dir()); err != nil {
		return refusal.Folder(err)
	}
	m, err := p.OpenFiles(project.StoreOptions{})
	if err != nil {
		return err
	}
	defer m.Close()
	now, err := m.View()
	if err != nil {
		return err
	}
	if now.Top != nil {
		first, err := m.LineAt(0)
		if err != nil {
			return err
		}
		*events += now.Task.Seq
		if err := seen(p, first.H, now.Journal); err != nil {
			return err
		}
	}
	_, err = project.CreateFiles(p, project.StoreOptions{})
	return err
}
