package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Git holds a lock on a ref for milliseconds, and one that was killed never takes its own away. A lock is stale when it is quiet old and
// no git runs that may hold it, or lockAge old where others may, or where nobody can tell.
const (
	quiet   = 10 * time.Second
	lockAge = 10 * time.Minute
)

// running reports whether a git runs that began before a moment; tests know better.
var running = func(t time.Time) bool { return proc.RunsSince("git", t) }

// Stale reports whether a file is a lock that a killed git has left.
func Stale(lock string, now time.Time) bool {
	info, err := os.Lstat(lock)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	age := now.Sub(info.ModTime())
	return age > lockAge || age > quiet && !running(info.ModTime())
}

// LocksBelow are the folders of a repository whose locks are those of ferrus and of its agents.
var LocksBelow = []string{"refs/ferrus", "refs/heads/ferrus", "logs/refs/heads/ferrus"}

var lockThere = safetext.Lazily(`Unable to create '([^']+\.lock)': File exists`)

// clear removes the lock that stood in the way of a call, if a killed git has left it on what is ours, or on the packed refs. It held the
// id of a commit that nobody was told of, or less.
func clear(dir, stderr string) bool {
	m := lockThere().FindStringSubmatch(stderr)
	if m == nil {
		return false
	}
	lock := filepath.FromSlash(m[1])
	if !filepath.IsAbs(lock) {
		lock = filepath.Join(dir, lock)
	}
	ours := filepath.Base(lock) == "packed-refs.lock"
	for _, below := range LocksBelow {
		ours = ours || strings.Contains(filepath.ToSlash(lock), "/"+below+"/")
	}
	if !ours || !Stale(lock, time.Now()) {
		return false
	}
	err := os.Remove(lock)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
