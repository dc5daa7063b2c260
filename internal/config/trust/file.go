package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// maxRecord bounds a record, in bytes.
const maxRecord = 16 << 20

const recordsFolder = "the folder of the records"

// lockWait bounds how long Update waits for others: each holds the lock for the time of one replacement.
const lockWait = 10 * time.Second

// unusable returns the refusal where the state folder, the configuration folder or a record at path cannot be used: a person
// sees to it. A nil err means that problem says all.
func unusable(path, problem string, err error, remedy refusal.Own) error {
	r := refusal.Because(refusal.StoreError, path+": "+problem, err, remedy)
	r.Person = true
	return r
}

func damaged(path, problem string) error {
	return unusable(path, "the record of the project is damaged: "+problem, nil, "move the file away, then run ferrus trust; no work is lost")
}

// read reads a record; the bool is false if there is none.
func read(path string) (Record, bool, error) {
	f, err := os.OpenFile(path, readFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, unusable(path, "the record of the project cannot be read", err, "make the file a regular file that only you can write, or move it away, then run ferrus trust")
	}
	defer f.Close()
	if err := usable(recordsFolder, filepath.Dir(path)); err != nil {
		return Record{}, false, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return Record{}, false, damaged(path, "not a regular file")
	}
	if problem, remedy := private(path, info); err == nil && problem != "" {
		return Record{}, false, unusable(path, "the record of the project "+problem, nil, remedy)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return Record{}, false, unusable(path, "read", err, "check the disk, then run the command again")
	}
	if len(data) > maxRecord {
		return Record{}, false, damaged(path, fmt.Sprintf("larger than %d MiB", maxRecord>>20))
	}
	return decode(path, data)
}

// decode reads the text of a record and checks that each agreement is what its digest says.
func decode(path string, data []byte) (Record, bool, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Record{}, false, damaged(path, "not the JSON that ferrus writes")
	}
	if head.Version > Version {
		return Record{}, false, unusable(path, fmt.Sprintf(
			"the record of the project has version %d, newer than this ferrus understands (%d)", head.Version, Version), nil, "use the newer ferrus, or move the file away and run ferrus trust")
	}
	var r Record
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, false, damaged(path, "not the JSON that ferrus writes")
	}
	if r.Version < 1 || r.Path == "" {
		return Record{}, false, damaged(path, "version or path is missing")
	}
	for _, a := range r.Agreed {
		if a.Digest == "" || a.Digest != Digest(a.Values) {
			return Record{}, false, damaged(path, "an agreement does not match its values")
		}
	}
	return r, true, nil
}

// encode returns a record as it is written.
func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	return jsonx.Rewrite(b.Bytes(), r), err
}

// replace writes the record so that after a crash there is the old one or the new one. The oldest agreements go if it would be
// larger than a reader accepts: they are asked for again.
func replace(path string, r Record) error {
	text, err := encode(r)
	for err == nil && len(text) > maxRecord && len(r.Agreed) > 1 {
		r.Agreed = r.Agreed[1:]
		text, err = encode(r)
	}
	if err != nil {
		return err
	}
	if err := rootfs.Fits(path, text, maxRecord); err != nil {
		return unusable(path, "the record of the project cannot be written", err, "make what the project's files run shorter: ferrus trust --show prints it; in a script FERRUS_TRUST needs no record")
	}
	dir := filepath.Dir(path)
	root, err := rootfs.Open(dir)
	if err != nil {
		return unwritten(dir, err)
	}
	defer root.Close()
	return unwritten(dir, atomicfile.Replace(root, filepath.Base(path), text, 0o600))
}

func unwritten(dir string, err error) error {
	if err == nil {
		return nil
	}
	return unusable(dir, "the record of the project cannot be written", err, "make the folder writable for you, or name another in FERRUS_STATE_DIR; in a script FERRUS_TRUST needs none")
}

// lock makes the folder of the records where it is missing and takes its lock. The lock file is never removed: a second
// process could lock the old inode while a third locks the new one.
func lock(dir string) (unlock func(), err error) {
	records := filepath.Join(dir, folder)
	if err := os.MkdirAll(records, 0o700); err != nil {
		return nil, unwritten(dir, err)
	}
	if err := usable("the state folder", records); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	l, err := filelock.Acquire(ctx, filepath.Join(records, ".lock"))
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, unusable(records, fmt.Sprintf("another process has held the lock of the records for %v", lockWait), nil, "try again; if that process is stopped, continue or kill it")
	case err != nil:
		return nil, unwritten(records, err)
	}
	return func() { _ = l.Close() }, nil
}
