// Package filestat asks the file system what it says of a file, and knows what that is worth: whether a change of the content
// must change it. It reads no content.
package filestat

import (
	"io/fs"
	"os"
	"time"
)

// A Stat is what the file system says of a file, by which a file whose content ferrus knows is known again. The
// device is not in it: it changes over reboots and backups.
type Stat struct {
	Ino          uint64
	Size         int64
	Mode         fs.FileMode
	Mtime, Ctime int64  // nanoseconds
	Dev          uint64 // to ask what the file system promises; not compared
}

// Same reports whether both are of one file, unchanged in between as far as the file system says.
func (a Stat) Same(b Stat) bool {
	b.Dev = a.Dev
	return a == b
}

const (
	// clockTick is longer than the steps of the clock that a kernel dates files with.
	clockTick = 50 * time.Millisecond
	// secondTick is for file systems that know but seconds, or two.
	secondTick = 3 * time.Second
)

// Settled reports whether a change of the file after the moment now must change its Stat: it is older than a step of
// the file system's clock.
func (a Stat) Settled(now time.Time) bool {
	step := clockTick
	if a.Ctime%int64(time.Second) == 0 {
		step = secondTick
	}
	return a.Ctime < now.Add(-step).UnixNano()
}

// Exists reports whether anything is at a path, a link that leads nowhere too.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
