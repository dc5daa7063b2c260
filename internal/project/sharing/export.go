package sharing

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// Export writes the journal of the machine of a place, and returns where it ends. The error of w is returned as it is.
func Export(p project.Place, w io.Writer) (store.Position, error) {
	m, err := p.Open(project.StoreOptions{ReadOnly: true})
	if err != nil {
		return store.Position{}, err
	}
	defer m.Close()
	now, err := m.View()
	if err != nil {
		return now.Journal, err
	}
	for _, err := range m.History() { // a journal that is not valid is not passed on
		if err != nil {
			return now.Journal, err
		}
	}
	r, err := m.Bytes(0, now.Journal.Bytes)
	if err != nil {
		return now.Journal, err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return now.Journal, err
}

// Import makes the machine of a place in files from an exported journal. The machine may have no event yet.
func Import(ctx context.Context, p project.Place, journal io.Reader) (events uint64, err error) {
	if p.InDatabase() {
		return 0, &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is in a database", Person: true,
			Remedy: "import into a fresh folder with ferrus init, then ferrus store move"}
	}
	err = locked(ctx, []project.Place{p}, func(p project.Place, now store.Snapshot) error {
		if now.Top != nil {
			return &refusal.RefusedError{Code: refusal.WrongState, Message: p.Dir() + " has tasks of its own", Person: true,
				Remedy: "nothing was changed: import into a fresh folder with ferrus init"}
		}
		_, err := file.Receive(p.Dir(), journal)
		return err
	}, func() error {
		if link := p.Backup(); link != "" { // of the journal without events
			if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return refusal.Folder(err)
			}
		}
		return file.Accept(p.Dir())
	})
	if err == nil {
		err = adopt(p, &events)
	}
	return events, err
}
