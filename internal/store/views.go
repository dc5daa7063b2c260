package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
)

// viewing is what a document's file looked like when it was last known to be right.
type viewing struct {
	sha  string
	size int64
	mod  time.Time
}

// checkViews compares the documents' files with the journal and returns those that somebody edited. A file may lag
// behind the journal, if STATE.json does: then it is what a crash left and no edit.
func (s *Store) checkViews(snap Snapshot, behind bool) ([]edit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var edits []edit
	for _, doc := range state.Docs() {
		name := string(doc)
		want := snap.Task.Docs[doc].SHA256
		info, err := s.disk.lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			delete(s.seen, name)
			if want != "" && !behind {
				edits = append(edits, edit{name: name})
			}
			continue
		case err != nil:
			return nil, &Error{Code: StoreError, What: "look at " + name, Err: err, Remedy: "run ferrus doctor"}
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, &Error{Code: StoreError, What: name, Err: errLink}
		}
		if v, ok := s.seen[name]; ok && v.sha == want && v.size == info.Size() && v.mod.Equal(info.ModTime()) {
			continue
		}
		data, err := slurp(s.disk, name)
		if err != nil {
			return nil, &Error{Code: StoreError, What: "read " + name, Err: err, Remedy: "run ferrus doctor"}
		}
		if digest(data) == want {
			s.seen[name] = viewing{want, info.Size(), info.ModTime()}
			continue
		}
		if !behind || !s.older(snap, doc, digest(data)) {
			edits = append(edits, edit{name, data})
		}
	}
	return edits, nil
}

// older reports whether a document with this hash is what the line before the newest had: a crash between the commit
// and the views leaves just that.
func (s *Store) older(snap Snapshot, doc state.Doc, sha string) bool {
	if snap.Top == nil {
		return false
	}
	for off := snap.Top.Off; off > 0; {
		before, err := s.lineBefore(off)
		if err != nil {
			return false
		}
		if before.State.Docs[doc].SHA256 == sha {
			return true
		}
		if snap.Top.Seq-before.Seq > 8 {
			return false
		}
		off = before.Off
	}
	return false
}

// show writes the views of snap as well as it can: documents first, STATE.json last, so that a current STATE.json
// means current documents. Copies of what was edited are kept.
func (s *Store) show(snap Snapshot, edits []edit) {
	for _, e := range edits {
		if e.data != nil {
			s.keep(editedName(e, snap.Task.Seq+1), e.data)
		}
	}
	for _, doc := range state.Docs() {
		ref, ok := snap.Task.Docs[doc]
		if err := s.showDoc(doc, ref, ok, snap.Top); err != nil {
			s.log.Warn("view not written", "file", doc, "error", err)
			return
		}
	}
	s.showState(snap)
}

func (s *Store) showState(snap Snapshot) {
	data, err := snap.encode()
	if err == nil {
		err = publish(s.disk, stateFile, data)
	}
	if err != nil {
		s.log.Warn("view not written", "file", stateFile, "error", err)
		return
	}
	s.remember(snap.Top, data)
}

// showDoc writes one document's file, or takes it away when the task has no such document.
func (s *Store) showDoc(doc state.Doc, ref state.Ref, has bool, top *Line) error {
	name := string(doc)
	s.mu.Lock()
	v, seen := s.seen[name]
	s.mu.Unlock()
	info, err := s.disk.lstat(name)
	there := err == nil
	if !has {
		if there {
			return s.disk.remove(name)
		}
		return nil
	}
	if there && seen && v.sha == ref.SHA256 && v.size == info.Size() && v.mod.Equal(info.ModTime()) {
		return nil
	}
	text, err := s.textAt(doc, ref, top)
	if err != nil {
		return err
	}
	if err := publish(s.disk, name, []byte(text)); err != nil {
		return err
	}
	if info, err = s.disk.lstat(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[name] = viewing{ref.SHA256, info.Size(), info.ModTime()}
	return nil
}

func editedName(e edit, seq uint64) string { return fmt.Sprintf("edited-%s-%d", e.name, seq) }

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

// Gate returns the text of the gate that is pinned to the task, nil when none is.
func (s *Store) Gate(snap Snapshot) ([]byte, error) {
	pin := snap.Task.Pin
	if pin.SHA256 == "" {
		return nil, nil
	}
	text, err := s.textAt(GateDoc, state.Ref(pin), snap.Top)
	return []byte(text), err
}

// refs returns the documents after texts were written by the line at off.
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

// remember notes what this process has just published, so that the next load need not parse it.
func (s *Store) remember(top *Line, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top = cached{line: top, shown: data}
}

// parsed notes a line that this process has parsed without looking at what STATE.json shows of it.
func (s *Store) parsed(top *Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.top.line != top {
		s.top = cached{line: top}
	}
}

func (s *Store) cachedTop() *Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top.line
}

func (s *Store) knows(top *Line, shown []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return top != nil && s.top.line == top && bytes.Equal(s.top.shown, shown)
}
