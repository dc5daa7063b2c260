package worktree

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	leftoverAge = time.Hour           // a draft of a killed process
	unusedAge   = 30 * 24 * time.Hour // an index for patterns or a work tree of the past
)

// A draft is one fingerprint's own copy of an index. Git verifies every entry of it against the work tree; then it
// becomes the private index.
type draft struct {
	path  string    // unique; git makes path.lock beside it
	cache string    // the private index that it may replace
	began time.Time // the file system's own clock, before git looked at any file
	users bool      // it began as the user's index
}

// indexPath names the private index. What decides which files count is part of the name, so that an index made under
// other patterns, or for another work tree that shares the folder, is never taken for this one.
func (t *Tree) indexPath() string {
	sparse, _ := os.ReadFile(filepath.Join(t.gitDir, "info", "sparse-checkout"))
	key := sha256.Sum256([]byte(strings.Join(append([]string{t.dir, t.gitDir, string(sparse)}, t.exclude...), "\x00")))
	return filepath.Join(t.private, fmt.Sprintf("index-%x", key[:6]))
}

// newDraft copies the private index, or the user's if that one is missing or fresh is asked for; where there is
// neither, git starts from an empty one.
func (t *Tree) newDraft(fresh bool) (*draft, error) {
	t.sweep()
	f, err := t.tempFile("draft-*")
	if err != nil {
		return nil, err
	}
	d := &draft{path: f.Name(), cache: t.indexPath()}
	var copied fs.FileInfo
	info, err := f.Stat()
	if err == nil {
		d.began = info.ModTime()
		copied, err = t.seed(d, f, fresh)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
	case copied == nil:
		err = os.Remove(d.path) // to git an empty file is a broken index
	default:
		// Git doubts every entry that is not older than its index, and re-reads the file. A copy that looked newer
		// would hide an edit of equal size in the same tick of the clock.
		err = os.Chtimes(d.path, copied.ModTime(), copied.ModTime())
	}
	if err != nil {
		d.discard()
		return nil, err
	}
	return d, nil
}

// seed copies an index into the draft's file and says which, nil if there is none.
func (t *Tree) seed(d *draft, f *os.File, fresh bool) (fs.FileInfo, error) {
	from, err := os.Open(d.cache)
	if d.users = fresh || err != nil; d.users {
		if err == nil {
			from.Close()
		}
		from, err = os.Open(t.index)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, from)
	return info, err
}

// publish makes the draft the private index, dated to before git first looked. Git's own date is that of the write: a
// file changed after it was hashed, but before the index was written, in one tick, would then pass as unchanged for
// ever. It dates an index forward too, if git found nothing to write, which ends the doubt about its youngest entries.
//
// An error is none of the caller's: the private index only saves time.
func (d *draft) publish() {
	if os.Chtimes(d.path, d.began, d.began) == nil {
		os.Rename(d.path, d.cache)
	}
}

// discard removes what is left of the draft.
func (d *draft) discard() {
	os.Remove(d.path)
	os.Remove(d.path + ".lock")
	os.Remove(d.path + ".asked")
}
