package file

import (
	"errors"
	"io/fs"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// viewing is the identity of a document's file when it was last known to be right.
type viewing struct {
	sha  string
	info fs.FileInfo
}

// checkViews compares the documents' files with the journal. It finds the stale ones and, among
// them, those that were edited. A file may be as far behind the journal as STATE.json: a crash
// causes that, not an edit.
func (s *Store) checkViews(now *lockedState, lag expectedViews) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range state.Docs() {
		name, want := string(doc), now.Task.Docs[doc].SHA256
		data, sha, err := s.look(name, want)
		if err != nil {
			return refusal.Because(refusal.StoreError, "look at "+name, err, "make that file readable, or run ferrus doctor{branch}")
		}
		if sha == want {
			continue
		}
		now.stale = append(now.stale, doc)
		if lag[viewKey(name, sha)] || data != nil && damaged(data) {
			continue
		}
		now.edits = append(now.edits, edit{name, data, sha})
	}
	return nil
}

// look returns the hash of a document's file, "" if there is none, and its text if that differs
// from the wanted one. The caller must hold mu.
func (s *Store) look(name, want string) (data []byte, sha string, err error) {
	info, err := s.disk.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		delete(s.seen, name)
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if v := s.seen[name]; v.sha == want && rootfs.Unchanged(v.info, info) {
		return nil, want, nil
	}
	if data, err = slurp(s.disk, name, maxView); err != nil {
		return nil, "", err
	}
	if sha = store.Digest(data); sha == want {
		s.seen[name] = viewing{want, info}
	}
	return data, sha, nil
}

// show writes the generated files: the stale documents first, STATE.json last, so that no document
// is further behind than STATE.json. The next load retries what could not be written.
func (s *Store) show(now lockedState) error {
	var err error
	for _, doc := range now.stale {
		if err = s.showDoc(now.Snapshot, doc); err != nil {
			s.log.Warn("view not written", "file", doc, "error", err)
			return err
		}
	}
	idx, err := indexOf(now.Snapshot)
	if err == nil {
		_, err = publish(s.disk, stateFile, idx.raw)
	}
	if err != nil {
		s.log.Warn("view not written", "file", stateFile, "error", err)
		return err
	}
	s.remember(now.Top, idx)
	return nil
}

// showDoc writes the file of one document, or removes it if the task has no such document.
func (s *Store) showDoc(now store.Snapshot, doc state.Doc) error {
	name := string(doc)
	ref, has := now.Task.Docs[doc]
	if !has {
		if err := s.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := store.TextAt(s, doc, ref, now.Top)
	if err != nil {
		return err
	}
	info, err := publish(s.disk, name, []byte(text))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[name] = viewing{ref.SHA256, info}
	return nil
}
