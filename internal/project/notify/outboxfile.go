package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// The files of an outbox. The lock of the record is held for moments, that of sending as long as
// messages are sent.
const (
	recordFile  = "outbox.json"
	recordLock  = "outbox.lock"
	sendingLock = "outbox-sending.lock"
	maxRecord   = 16 << 20
)

// read returns the record; an empty one where there is none.
func (b *Outbox) read() (record, error) {
	var r record
	root, name, err := rootfs.For(filepath.Join(b.dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer root.Close()
	text, err := root.ReadFile(name, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return record{}, fmt.Errorf("read the notifications that were sent: %w; remove %s", rootfs.Cause(err), filepath.Join(b.dir, recordFile))
	}
	return r, nil
}

// busy is how long an update waits for others.
const busy = 10 * time.Second

// update changes the record durably, one process at a time. change reports whether it did.
func (b *Outbox) update(change func(*record) bool) error {
	lock, err := b.lock(recordLock, func(path string) (*filelock.Lock, error) {
		ctx, cancel := context.WithTimeout(context.Background(), busy)
		defer cancel()
		return filelock.Acquire(ctx, path)
	})
	if err != nil {
		return err
	}
	defer lock.Close()
	r, err := b.read()
	if err != nil || !change(&r) {
		return err
	}
	text, err := jsonx.Marshal(r)
	for err == nil && len(text) >= maxRecord && len(r.Entries) > 1 { // the older half is not sent any more
		r.Entries = r.Entries[(len(r.Entries)+1)/2:]
		text, err = jsonx.Marshal(r)
	}
	if err == nil {
		err = rootfs.Fits(recordFile, text, maxRecord-1)
	}
	if err != nil {
		return err
	}
	root, name, err := rootfs.For(filepath.Join(b.dir, recordFile))
	if err != nil {
		return err
	}
	defer root.Close()
	return atomicfile.Replace(root, name, append(text, '\n'), 0o600)
}

// lock takes a lock of the outbox by a function of package filelock.
func (b *Outbox) lock(name string, take func(path string) (*filelock.Lock, error)) (*filelock.Lock, error) {
	root, in, err := rootfs.For(filepath.Join(b.dir, name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, filepath.ToSlash(filepath.Dir(in)), 0o700); err != nil {
		return nil, err
	}
	path, err := root.Path(in)
	if err != nil {
		return nil, err
	}
	return take(path)
}
