package store

import (
	"errors"
	"io/fs"
	"maps"

	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
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
			return &Error{Code: StoreError, What: "look at " + name, Err: err, Remedy: "make that file readable, or run ferrus doctor"}
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
	if sha = digest(data); sha == want {
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
	idx, err := now.index()
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
func (s *Store) showDoc(now Snapshot, doc state.Doc) error {
	name := string(doc)
	ref, has := now.Task.Docs[doc]
	if !has {
		if err := s.disk.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := s.textAt(doc, ref, now.Top)
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

// Text returns the current text of a document, "" when the task has none.
func (s *Store) Text(snap Snapshot, doc state.Doc) (string, error) {
	ref, ok := snap.Task.Docs[doc]
	if !ok {
		return "", nil
	}
	return s.textAt(doc, ref, snap.Top)
}

// textAt returns a document's text from the line that wrote it.
func (s *Store) textAt(doc state.Doc, ref state.Ref, top *Line) (string, error) {
	if top != nil && top.Off == ref.Off {
		return top.Docs[doc], nil
	}
	l, err := s.LineAt(ref.Off)
	if err != nil {
		return "", err
	}
	return l.Docs[doc], nil
}

// Gate returns the text of the gate that is frozen with the task, nil when there is none.
func (s *Store) Gate(snap Snapshot) ([]byte, error) {
	pin := snap.Task.Pin
	if pin.SHA256 == "" {
		return nil, nil
	}
	text, err := s.textAt(GateDoc, state.Ref(pin), snap.Top)
	return []byte(text), err
}

// refs returns the references to documents after the line at off wrote texts.
func refs(now map[state.Doc]state.Ref, texts map[state.Doc]string, off int64) map[state.Doc]state.Ref {
	next := maps.Clone(now)
	for doc, text := range texts {
		if doc == GateDoc {
			continue
		}
		if next == nil {
			next = map[state.Doc]state.Ref{}
		}
		next[doc] = state.Ref{Off: off, SHA256: digest([]byte(text))}
	}
	return next
}
