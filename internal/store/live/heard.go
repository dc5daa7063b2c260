package live

import (
	"encoding/json"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// HeardName is the file that says when a database was last told that this computer is there. It is in the folder Dir of a project.
const HeardName = "heard.json"

// maxHeard bounds that file, in bytes.
const maxHeard = 1 << 10

// HeardFile returns the path of the file that NoteHeard writes for the project whose control files are in home.
func HeardFile(home string) string { return filepath.Join(home, Dir, HeardName) }

// NoteHeard notes that the database has heard of this computer, by what was sent at a time of package clock. home is the folder of the control
// files of the project.
func NoteHeard(home string, sent lease.Instant) error {
	text, err := json.Marshal(sent)
	if err != nil {
		return err
	}
	r, err := rootfs.Open(home)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.MkdirAll(Dir, 0o700); err != nil {
		return err
	}
	return r.WriteFile(path.Join(Dir, HeardName), text, 0o600)
}

// Heard returns what NoteHeard has noted in the file.
func Heard(file string) (lease.Instant, error) {
	r, name, err := rootfs.For(file)
	if err != nil {
		return lease.Instant{}, err
	}
	defer r.Close()
	text, err := r.ReadFile(name, maxHeard)
	if err != nil {
		return lease.Instant{}, err
	}
	var at lease.Instant
	return at, json.Unmarshal(text, &at)
}
