package file

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// movedVersion is the schema version of the STATE.json of a machine that is in a database: none that any ferrus reads.
const movedVersion = 1000

// Freeze ends the use of the files of the machine in dir, a folder below .ferrus: every store that is open there, also of an older ferrus, is refused. The
// caller has the lock of the machine, or nobody can have it open. [Thaw] undoes it.
func Freeze(dir string) error {
	text, err := json.Marshal(map[string]any{"schema_version": movedVersion, "note": "the machine is in a database: ferrus status"})
	if err != nil {
		return err
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(stateFile, append(text, '\n'), 0o600)
}

// Frozen reports whether the files of the machine in dir are not in use since Freeze.
func Frozen(dir string) bool {
	root, err := rootfs.Open(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	raw, err := root.ReadFile(stateFile, maxIndex)
	return err == nil && parseIndex(raw).version == movedVersion
}

// Thaw lets the files of the machine in dir be used again, if they were frozen. STATE.json is made anew from the journal.
func Thaw(dir string) error {
	if !Frozen(dir) {
		return nil
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(stateFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// moved is the error of every use of a machine whose files are frozen.
func (s *Store) moved() error {
	var remedy refusal.Own = "end this server or command and start it again"
	what := "the project was moved into a database"
	if s.opts.Moved != nil {
		what, remedy = s.opts.Moved()
	}
	return &refusal.RefusedError{Code: refusal.StoreGone, Message: what, Remedy: remedy}
}

// isMoved reports whether an error is that of moved.
func isMoved(err error) bool {
	var known *refusal.RefusedError
	return errors.As(err, &known) && known.Code == refusal.StoreGone
}
