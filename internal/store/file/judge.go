package file

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/ferrus-go/ferrus/internal/store"
)

// judged is the journal that Options.Judge accepted.
type judged struct {
	mu   sync.Mutex
	info fs.FileInfo // nil before the first
	size int64       // when it was last opened
	held file        // stays open if the system permits: the inode number of a removed file is reused
}

// holdJudged is false where an open file cannot be removed or renamed. Such systems do not reuse
// the number of a file.
const holdJudged = runtime.GOOS != "windows"

// judge asks Options.Judge about the journal, unless it is the one that was accepted before.
func (s *Store) judge(journal file) error {
	if s.opts.Judge == nil {
		return nil
	}
	info, err := journal.Stat()
	if err != nil {
		return store.ReadError(err)
	}
	j := &s.judged
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.info != nil && os.SameFile(j.info, info) && info.Size() >= j.size {
		j.size = info.Size()
		return nil
	}
	j.drop()
	if err := s.opts.Judge(journal, info.Size()); err != nil {
		return err
	}
	if holdJudged {
		if j.held, err = s.disk.open(journalFile, os.O_RDONLY); err != nil {
			return nil // it is judged again at the next use
		}
		if now, err := j.held.Stat(); err != nil || !os.SameFile(now, info) {
			j.drop()
			return nil
		}
	}
	j.info, j.size = info, info.Size()
	return nil
}

// read calls read with the open journal, and reports whether it still is the one in the folder.
func (j *judged) read(disk disk, read func(journal io.ReaderAt, size int64) error) (held bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held == nil {
		return false, nil
	}
	info, err := disk.lstat(journalFile)
	if err != nil || !os.SameFile(j.info, info) || info.Size() < j.size {
		return false, nil
	}
	j.size = info.Size()
	return true, read(j.held, j.size)
}

func (j *judged) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.drop()
}

func (j *judged) drop() {
	if j.held != nil {
		j.held.Close()
	}
	j.held, j.info, j.size = nil, nil, 0
}
