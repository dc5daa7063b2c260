package register

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A record is our memory of what was written. Without it everything of ours is still found by its name; with it a file
// gets back its very bytes, and what a person had before us is known to be theirs.
type record struct {
	Roles map[agents.Duty]Assignment `json:"roles"`
	Files map[string]*memory         `json:"files"` // by path relative to the project
	Dirs  []string                   `json:"dirs,omitempty"`
}

// A memory is what was done to one file.
type memory struct {
	Made bool              `json:"made,omitempty"` // it was not there
	Sum  string            `json:"sum"`            // of the file as we left it
	Undo []hunk            `json:"undo,omitempty"` // leads back from there
	Kept []string          `json:"kept,omitempty"` // of the places of ours, those that were there before us
	Shy  map[string]string `json:"shy,omitempty"`  // the values of shy bits that we wrote
}

// maxRecord bounds what is read of the record, in bytes. It may hold what many files were before.
const maxRecord = 64 << 20

// remembered reads the record. One that is missing or damaged is empty: it is a convenience and no more.
func remembered(path string) (record, error) {
	r := record{}
	root, name, err := rootfs.For(path)
	var text []byte
	if err == nil {
		text, err = root.ReadFile(name, maxRecord)
		root.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if err != nil || json.Unmarshal(text, &r) != nil {
		r = record{}
	}
	if r.Files == nil {
		r.Files = map[string]*memory{}
	}
	if r.Roles == nil {
		r.Roles = map[agents.Duty]Assignment{}
	}
	for name, m := range r.Files {
		if m == nil {
			delete(r.Files, name)
		}
	}
	for role, assigned := range r.Roles {
		if _, err := agents.Find(assigned.Agent); err != nil || !slices.Contains(roles, role) || !plainModel(assigned.Model) {
			delete(r.Roles, role)
		}
	}
	r.Dirs = slices.DeleteFunc(r.Dirs, func(dir string) bool { return !filepath.IsLocal(filepath.FromSlash(dir)) })
	return r, nil
}

// unlessChanged takes the lock of the record, and refuses a plan that was made from an older one: what another process has
// remembered since would be lost.
func (p *Plan) unlessChanged() (unlock func(), err error) {
	root, name, err := rootfs.For(p.project.Record)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Path(name + ".lock")
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Take(file)
	changed := refuse(p.project.Record, 0, "another process changed it just now",
		"run this again; nothing was written")
	if errors.Is(err, filelock.ErrHeld) {
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	now, err := remembered(p.project.Record)
	if err == nil && !bytes.Equal(now.text(), p.known) {
		err = changed
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// plainModel reports whether a text can be the name of a model, which becomes an argument of an agent.
func plainModel(text string) bool {
	return len(text) <= 200 && !strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, unicode.IsControl)
}

// text is the record as it is written, nil when there is nothing to remember.
func (r record) text() []byte {
	if len(r.Roles) == 0 && len(r.Files) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(err) // it holds strings and numbers
	}
	return append(text, '\n')
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// undone is a file as it was before us, if it still is as we left it.
func (m *memory) undone(text []byte) ([]byte, bool) {
	if m == nil || m.Sum != sum(text) {
		return nil, false
	}
	if m.Made {
		return nil, true
	}
	old, ok := apply(string(text), m.Undo)
	return []byte(old), ok
}

func (m *memory) kept(path []string) bool { return m != nil && slices.Contains(m.Kept, joined(path)) }
