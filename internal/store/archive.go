package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state"
)

// Archive copies a task, as it was at snap, into archive/<task-id>: its documents and its journal
// lines. It runs after the task has ended, and may run again at any time.
func (s *Store) Archive(snap Snapshot) error {
	t := snap.Task
	begin, ok := t.Docs[state.TaskDoc]
	if !state.ValidTaskID(t.TaskID) || !ok {
		return nil
	}
	dir := archiveDir + "/" + t.TaskID
	err := errors.Join(s.disk.mkdir(archiveDir), s.disk.mkdir(dir))
	for doc := range t.Docs {
		if err != nil {
			break
		}
		var text string
		if text, err = s.Text(snap, doc); err == nil {
			err = s.file(dir+"/"+string(doc), strings.NewReader(text))
		}
	}
	if err == nil {
		err = s.disk.syncDir(dir)
	}
	if err == nil {
		err = s.copyLines(begin.Off, snap.Journal.Bytes, dir+"/"+journalFile)
	}
	if err != nil {
		return fmt.Errorf("archive %s: %w", t.TaskID, err)
	}
	return nil
}

// Archived reports whether the task has been archived.
func (s *Store) Archived(taskID string) bool {
	if !state.ValidTaskID(taskID) {
		return false
	}
	_, err := s.disk.lstat(archiveDir + "/" + taskID + "/" + journalFile)
	return err == nil
}

// copyLines copies a part of the journal. It comes last: with this file the archive is complete and
// is not written again. That is why files of an archive are synced, unlike the generated files,
// which every event compares with the journal.
func (s *Store) copyLines(from, to int64, name string) error {
	journal, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer journal.Close()
	return s.file(name, io.NewSectionReader(journal, from, to-from))
}

// file puts a file into the archive. It takes no lock, so its temporary name differs from that of
// every other process.
func (s *Store) file(name string, text io.Reader) error {
	_, err := fill(s.disk, name, name+"."+uuid.NewString()+".tmp", func(f file) error {
		if _, err := io.Copy(f, text); err != nil {
			return err
		}
		return f.datasync()
	})
	return err
}
