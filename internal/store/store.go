// Package store saves the state machine of one task in files. It writes the journal and the files
// that are generated from it: STATE.json and the Markdown documents. Other files below .ferrus,
// such as logs, locks and the queue, have other writers; docs/architecture.md lists them.
//
// The source of truth is journal.jsonl. One line is one event, with the documents that it wrote and
// the complete state after it. A transition is committed when its line is on disk, by one append
// and one fdatasync. The generated files show the newest line. They are replaced without a sync,
// and written again whenever they are out of date.
//
// The store does not decide what may happen. [Store.Apply] passes the present state to a function
// of the caller, under the lock, and saves what the function returns. Nothing slow belongs into
// such a function.
package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// Names under .ferrus.
const (
	stateFile   = "STATE.json"
	lockFile    = "STATE.lock"
	journalFile = "journal.jsonl"
	logDir      = "logs"
	liveDir     = "live"
	archiveDir  = "archive"
)

// A Store is one machine's folder, open. It may be used by many goroutines; other processes may use the same folder.
type Store struct {
	dir   string
	disk  disk
	opts  Options
	home  fs.FileInfo // of dir when it was opened
	lock  fs.FileInfo // of STATE.lock when it was opened
	queue *filelock.Queue
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	top    cached                   // what this process has parsed last
	seen   map[string]viewing       // documents known to be as the journal has them
	deaths map[string]chan struct{} // sessions whose end is waited for
	judged judged
}

// Options are what Open and Create may be told. The zero value is right for all but tests.
type Options struct {
	Backup   func() string    // finds the path of the journal's second hard link, "" for none; asked only where it is needed
	Now      func() time.Time // wall clock, for display; time.Now when nil
	LockWait time.Duration    // how long to wait for the lock; 10 s when zero
	Log      *slog.Logger     // for views that could not be written; slog.Default when nil

	// Judge says whether a journal was made here, before anything in it is used: nil, or the error that every use of it
	// returns. It is asked again when another file has taken its place or it has become shorter. It may be called under
	// the lock. Nil takes every journal.
	Judge func(journal io.ReaderAt, size int64) error
	// Begin is told the hash of a journal's first line before that line is appended, outside of the lock. Its error
	// refuses the line. It may be told of lines that are not appended then.
	Begin func(hash string) error
	// ReadOnly writes nothing, and so finds the newest line by reading all of the journal where STATE.json does not name it.
	ReadOnly bool

	own  bool                           // the journal is new: no other may take its place
	disk func(dir string) (disk, error) // opens the folder; a test puts faults between
}

// Open opens the machine in dir, a .ferrus folder or one of its branches.
func Open(dir string, opts Options) (*Store, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Code: NotInitialised, What: dir + " does not exist", Remedy: "run ferrus init"}
	case err != nil:
		return nil, &Error{Code: StoreError, What: "open " + dir, Err: err, Remedy: "see whether the folder can be read"}
	case !info.IsDir():
		return nil, &Error{Code: StoreError, What: dir + " is not a folder of its own",
			Remedy: "remove the link or file and run ferrus init"}
	}
	open := openDisk
	if opts.disk != nil {
		open = opts.disk
	}
	d, err := open(dir)
	if err != nil {
		return nil, &Error{Code: StoreError, What: "open " + dir, Err: err, Remedy: "see whether the folder can be read"}
	}
	s := &Store{dir: dir, disk: d, opts: opts, home: info, queue: filelock.NewQueue(filepath.Join(dir, lockFile)), now: opts.Now, log: opts.Log,
		seen: map[string]viewing{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.opts.LockWait == 0 {
		s.opts.LockWait = 10 * time.Second
	}
	if s.lock, err = s.ensureLock(); err != nil && !opts.ReadOnly {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Create makes the machine in dir where there is none and opens it. What exists stays as it is. A journal that was
// lost with its folder comes back from its hard-linked copy, if that is valid; restored tells. If it is damaged, nothing is
// made, and the error has the code Corrupt. Of two copies that differ the valid one wins, as Reconcile says.
func Create(dir string, opts Options) (_ *Store, restored bool, err error) {
	fail := func(err error) (*Store, bool, error) {
		return nil, false, &Error{Code: StoreError, What: "create " + dir, Err: err,
			Remedy: "see whether the folder can be written and the disk has room"}
	}
	above := firstThere(filepath.Dir(dir))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	opened, err := Open(dir, opts)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			opened.Close()
		}
	}()
	if _, err := opened.disk.lstat(journalFile); errors.Is(err, fs.ErrNotExist) {
		did, err := opened.Reconcile(context.Background(), false)
		if err != nil {
			return nil, false, err
		}
		restored = did.Restored
	}
	for _, name := range []string{logDir, liveDir, archiveDir} {
		if err := opened.disk.mkdir(name); err != nil {
			return fail(err)
		}
	}
	if err := opened.found(above); err != nil {
		return fail(err)
	}
	if _, err := opened.View(); err != nil {
		return nil, false, err
	}
	return opened, restored, nil
}

// firstThere returns the innermost folder on the way to path that exists.
func firstThere(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// found makes the journal and its second link, durably, and so the folder up to above.
func (s *Store) found(above string) error {
	f, err := s.disk.open(journalFile, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.datasync(); err != nil {
		return err
	}
	if err := s.settle(above); err != nil {
		return err
	}
	if _, err := s.Reconcile(context.Background(), s.opts.own); err != nil {
		s.log.Debug("the journal has no hard-linked copy", "error", err) // ferrus works without: on another file system, say
	}
	return nil
}

// settle makes the name of the journal durable, and those of the folders up to above.
func (s *Store) settle(above string) error {
	if err := s.disk.syncDir("."); err != nil {
		return err
	}
	for dir := s.dir; dir != above; {
		dir = filepath.Dir(dir)
		if parent, err := os.Open(dir); err == nil {
			_ = parent.Sync() // so that the folder itself survives; not every system can
			parent.Close()
		}
	}
	return nil
}

// backup is the path of the journal's second hard link, "" for none.
func (s *Store) backup() string {
	if s.opts.Backup == nil {
		return ""
	}
	return s.opts.Backup()
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Path returns the path of a file under the folder, such as a log.
func (s *Store) Path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// Close lets go of the folder. Locks held by Live stay.
func (s *Store) Close() error {
	s.judged.forget()
	return s.disk.close()
}
