package file

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Archive copies a task of a machine, as it was at snap, into archive/<task-id> below dir, the folder of the machine: its documents and
// its journal lines. It runs after the task has ended, and may run again at any time.
func Archive(dir string, from store.Machine, snap store.Snapshot) error {
	d, err := openDisk(dir)
	if err != nil {
		return fmt.Errorf("archive %s: %w", snap.Task.TaskID, err)
	}
	return errors.Join(archive(d, from, snap), d.close())
}

func archive(d disk, from store.Machine, snap store.Snapshot) error {
	t := snap.Task
	begin, ok := t.Docs[state.TaskDoc]
	if !state.ValidTaskID(t.TaskID) || !ok {
		return nil
	}
	dir := archiveDir + "/" + t.TaskID
	err := errors.Join(d.mkdir(archiveDir), d.mkdir(dir))
	for doc := range t.Docs {
		if err != nil {
			break
		}
		var text string
		if text, err = store.Text(from, snap, doc); err == nil {
			err = archiveFile(d, dir+"/"+string(doc), strings.NewReader(text))
		}
	}
	if err == nil {
		err = d.syncDir(dir)
	}
	if err == nil {
		err = copyLines(d, from, begin.Off, snap.Journal.Bytes, dir+"/"+journalFile)
	}
	if err != nil {
		return fmt.Errorf("archive %s: %w", t.TaskID, err)
	}
	return nil
}

// Archived reports whether a task has been archived below dir, the folder of its machine.
func Archived(dir, taskID string) bool {
	d, err := openDisk(dir)
	if err != nil {
		return false
	}
	defer d.close()
	return archived(d, taskID)
}

func archived(d disk, taskID string) bool {
	if !state.ValidTaskID(taskID) {
		return false
	}
	_, err := d.lstat(archiveDir + "/" + taskID + "/" + journalFile)
	return err == nil
}

// copyLines copies a part of the journal. It comes last: with this file the archive is complete and
// is not written again. That is why files of an archive are synced, unlike the generated files,
// which every event compares with the journal.
func copyLines(d disk, of store.Machine, from, to int64, name string) error {
	lines, err := of.Bytes(from, to)
	if err != nil {
		return err
	}
	defer lines.Close()
	return archiveFile(d, name, lines)
}

// archiveFile puts a file into the archive. It takes no lock, so its temporary name differs from that of
// every other process.
func archiveFile(d disk, name string, text io.Reader) error {
	_, err := fill(d, name, name+"."+uuid.NewString()+".tmp", func(f file) error {
		if _, err := io.Copy(f, text); err != nil {
			return err
		}
		return f.datasync()
	})
	return err
}
