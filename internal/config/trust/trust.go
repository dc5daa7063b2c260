// Package trust stores the record of a project outside of every repository: the executable values
// to which a person agreed, and what this machine last saw of the project. Losing a record loses no
// data; ferrus asks once more.
//
// The package does not know tasks, journals or configuration files. The packages that parse those
// files say which values are executable, as [Value]s. The command line asks the person.
package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// EnvTrust is the variable that agrees to one digest for one process tree, without a record. The digest of the files that are copied
// follows that of the values after a +.
const EnvTrust = "FERRUS_TRUST"

// Version is the version of the record's format that this package reads and writes.
const Version = 1

// A Record is what ferrus knows about one project. The zero Record is that of a new project.
type Record struct {
	Version int               `json:"version"`
	Path    string            `json:"path"` // real path of the project's root
	Journal Journal           `json:"journal"`
	Agreed  []Agreement       `json:"agreed,omitempty"` // the newest last
	Copies  []string          `json:"copies,omitempty"` // files that a person agreed to have copied into new work trees, by name
	Environ map[string]string `json:"environ,omitempty"`
	Shared  *Shared           `json:"shared,omitempty"` // nil: the machines are in the project's own files
	Seen    time.Time         `json:"seen"`             // of the last Update
	Allowed time.Time         `json:"allowed,omitzero"` // until when a person has lifted the limits of a day
	Gone    time.Time         `json:"gone,omitzero"`    // when Sweep first found no folder at Path
}

// Shared says which database has the machines of the project, and who this folder is there. A person has named it: what stands in a
// repository is not believed.
type Shared struct {
	URL     string `json:"url"`     // of the database, without a password
	Project string `json:"project"` // UUID of the project in the database
	Node    string `json:"node"`    // UUID of this folder on this computer

	// Arriving says that a move of the project into the database has begun and is not over: it is there already, or still in its files.
	Arriving bool `json:"arriving,omitempty"`
}

// Journal marks lines of the project's journal that were written on this machine.
type Journal struct {
	First string `json:"first,omitempty"` // hash of the newest first line
	// Firsts are hashes of other first lines: of branches that began without one of their parent's, of a journal that was begun
	// anew, and of lines that were recorded and then not written.
	Firsts []string `json:"firsts,omitempty"`
	Off    int64    `json:"off,omitempty"` // offset of a later line that was synced
	H      string   `json:"h,omitempty"`   // hash of the line at Off
}

// An Agreement is a set of executable values that a person agreed to.
type Agreement struct {
	Digest string    `json:"digest"`
	Values []Value   `json:"values"`
	At     time.Time `json:"at"`
}

// A Project is the record of one project. It holds no file open and is safe for concurrent use.
type Project struct {
	root   string
	dir    string // the state folder; "" with err
	err    error  // why there is no state folder
	digest string // of the values agreed to by FERRUS_TRUST; "" for none
	copies string // the same of the files that are copied

	mu      sync.Mutex
	digests []string    // of the record's agreements, when they were last read
	readAt  os.FileInfo // of the record's file then; nil when there was none
}

// Open returns the project whose root is the folder root. It writes nothing. A state folder that cannot be used is
// reported by Record and Update, so that FERRUS_TRUST works without one.
func Open(root string) (*Project, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	dir, err := StateDir()
	if err == nil {
		err = outside(real, dir)
	}
	values, copies, _ := strings.Cut(os.Getenv(EnvTrust), "+")
	return &Project{root: real, dir: dir, err: err, digest: values, copies: copies}, nil
}

// Root returns the real path of the project's root.
func (p *Project) Root() string { return p.root }

// Path returns the path of the record, "" without a usable state folder.
func (p *Project) Path() string {
	if p.err != nil {
		return ""
	}
	return recordOf(p.dir, p.root)
}

// folder is the folder of the records in the state folder.
const folder = "projects"

// Record reads the record. The bool is false where there is none; the Record then has its path and nothing else. A record
// that is damaged, of a newer version or unreadable is an error that says what to do.
func (p *Project) Record() (Record, bool, error) {
	none := Record{Version: Version, Path: p.root}
	if p.err != nil {
		return none, false, p.err
	}
	r, found, err := read(p.Path())
	if err != nil || !found {
		return none, false, err
	}
	if r.Path != p.root {
		return none, false, damaged(p.Path(), "it is the record of "+quoted(r.Path))
	}
	return r, true, nil
}

// Update changes the record under a lock that all processes of the user share, and replaces it
// durably. Without a record, change gets an empty one, and Update creates the file and its folders.
// If change returns an error, nothing is written. A read-only file system gives an error that
// errors.Is recognizes, so that a caller that does not need the record can continue.
func (p *Project) Update(change func(*Record) error) error {
	return p.locked(func() error {
		r, _, err := p.Record()
		if err != nil {
			return err
		}
		if err := change(&r); err != nil {
			return err
		}
		r.Version, r.Path, r.Seen, r.Gone = Version, p.root, time.Now().UTC(), time.Time{}
		return replace(p.Path(), r)
	})
}

// Forget removes the record. No record is no error.
func (p *Project) Forget() error {
	return p.locked(func() error {
		if err := os.Remove(p.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unwritten(p.dir, err)
		}
		return nil
	})
}

// locked does something under the lock of the records.
func (p *Project) locked(do func() error) error {
	if p.err != nil {
		return p.err
	}
	unlock, err := lock(p.dir)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}
