// Package file keeps a machine in the files of a folder. It writes the journal and the files that are
// generated from it: STATE.json and the Markdown documents. Other files below .ferrus, such as logs, locks
// and the queue, have other writers; package project lists them.
//
// A transition is committed when its line is on disk, by one append and one fdatasync. The generated
// files show the newest line. They are replaced without a sync, and written again whenever they are out
// of date.
package file

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
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// Names under .ferrus.
const (
	stateFile   = "STATE.json"
	lockFile    = "STATE.lock"
	journalFile = store.JournalName
	logDir      = "logs"
	liveDir     = live.Dir
	archiveDir  = "archive"
)

// A Store is the open folder of one machine. It is safe for concurrent use by goroutines, and by
// several processes.
type Store struct {
	dir      string
	disk     disk
	opts     Options
	home     fs.FileInfo // of dir when it was opened
	lock     fs.FileInfo // of STATE.lock when it was opened
	queue    *filelock.Queue
	sessions *live.Sessions
	now      func() time.Time
	log      *slog.Logger

	mu     sync.Mutex
	top    cached             // what this process parsed last
	seen   map[string]viewing // documents known to agree with the journal
	judged judged
}

// Options configure Open and Create. The zero value is right outside of tests.
type Options struct {
	Backup   func() string    // returns the path of the journal's hard-linked copy, "" for none; called only when needed
	Now      func() time.Time // wall clock, for display; time.Now when nil
	LockWait time.Duration    // how long to wait for the lock; 10 s when zero
	Log      *slog.Logger     // for generated files that could not be written; slog.Default when nil

	// Judge decides whether a journal was made on this machine, before anything in it is used. It
	// returns nil, or the error that every use of the journal returns. It is called again when
	// another file has replaced the journal, or the journal has become shorter, possibly under the
	// lock. A nil Judge accepts every journal.
	Judge func(journal io.ReaderAt, size int64) error
	// Begin gets the hash of a journal's first line before that line is appended, outside of the
	// lock. Its error refuses the line. The line may not be appended afterwards.
	Begin func(hash string) error
	// Moved says where the machine is that Freeze has taken out of its files, and what to do, for people. It may be nil.
	Moved func() (what string, remedy refusal.Own)
	// ReadOnly writes nothing. If STATE.json does not name the newest line, the store reads the
	// whole journal.
	ReadOnly bool

	own  bool                           // the journal is new: no other may take its place
	disk func(dir string) (disk, error) // opens the folder; tests inject faults
}

// Open opens the machine in dir, a .ferrus folder or one of its branches.
func Open(dir string, opts Options) (*Store, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &refusal.RefusedError{Code: refusal.NotInitialised, Message: dir + " does not exist", Remedy: "run ferrus init"}
	case err != nil:
		return nil, refusal.Because(refusal.StoreError, "open "+dir, err, "check whether the folder can be read")
	case !info.IsDir():
		return nil, &refusal.RefusedError{Code: refusal.StoreError, Message: dir + " is a link or a file, not a folder",
			Remedy: "remove the link or the file, then run ferrus init"}
	}
	open := openDisk
	if opts.disk != nil {
		open = opts.disk
	}
	d, err := open(dir)
	if err != nil {
		return nil, refusal.Because(refusal.StoreError, "open "+dir, err, "check whether the folder can be read")
	}
	s := &Store{dir: dir, disk: d, opts: opts, home: info, queue: filelock.NewQueue(filepath.Join(dir, lockFile)), now: opts.Now, log: opts.Log,
		sessions: live.In(dir), seen: map[string]viewing{}}
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

// Create makes the machine in dir if it does not exist, and opens it. Existing files stay. If the
// journal was lost with its folder and its hard-linked copy is valid, Create restores it, and
// restored is true. If the copy is damaged, nothing is made and the error has the code Corrupt. Two
// different copies are treated as in Reconcile.
func Create(dir string, opts Options) (_ *Store, restored bool, err error) {
	fail := func(err error) (*Store, bool, error) {
		return nil, false, refusal.Because(refusal.StoreError, "create "+dir, err,
			"check whether the folder is writable and the disk has space")
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

// firstThere returns the innermost existing folder on the way to path.
func firstThere(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// found creates the journal and its hard-linked copy, durably, including the folders up to above.
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

// settle makes the name of the journal and of the folders up to above durable.
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

// backup returns the path of the journal's hard-linked copy, "" for none.
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

// Close closes the folder. Locks of Live stay.
func (s *Store) Close() error {
	s.judged.forget()
	return s.disk.close()
}
