package store

import "github.com/ferrus-go/ferrus/internal/state"

// Text returns the current text of a document, "" when the task has none.
func Text(from Reader, snap Snapshot, doc state.Doc) (string, error) {
	ref, ok := snap.Task.Docs[doc]
	if !ok {
		return "", nil
	}
	return TextAt(from, doc, ref, snap.Top)
}

// TextAt returns a document's text from the line that wrote it. top is the newest line; nil if that is not at hand.
func TextAt(from Reader, doc state.Doc, ref state.Ref, top *Line) (string, error) {
	if top != nil && top.Off == ref.Off {
		return top.Docs[doc], nil
	}
	l, err := from.LineAt(ref.Off)
	if err != nil {
		return "", err
	}
	return l.Docs[doc], nil
}

// Gate returns the text of the gate that is frozen with the task, nil when there is none.
func Gate(from Reader, snap Snapshot) ([]byte, error) {
	pin := snap.Task.Pin
	if pin.SHA256 == "" {
		return nil, nil
	}
	text, err := TextAt(from, GateDoc, state.Ref(pin), snap.Top)
	return []byte(text), err
}
