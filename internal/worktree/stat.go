package worktree

import (
	"io/fs"
	"time"
)

// A fileStat is what the file system says of a file, by which a file whose content ferrus knows is known again. The
// device is not in it: it changes over reboots and backups.
type fileStat struct {
	ino          uint64
	size         int64
	mode         fs.FileMode
	mtime, ctime int64  // nanoseconds
	dev          uint64 // to ask what the file system promises; not compared
}

func (a fileStat) same(b fileStat) bool {
	b.dev = a.dev
	return a == b
}

// entryMode is the mode that a tree has for the file.
func (a fileStat) entryMode() string {
	switch {
	case a.mode&fs.ModeSymlink != 0:
		return modeSymlink
	case a.mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}

const (
	// clockTick is longer than the steps of the clock that a kernel dates files with.
	clockTick = 50 * time.Millisecond
	// secondTick is for file systems that know but seconds, or two.
	secondTick = 3 * time.Second
)

// settled reports whether a change of the file after the moment now must change its fileStat: it is older than a step of
// the file system's clock.
func (a fileStat) settled(now time.Time) bool {
	step := clockTick
	if a.ctime%int64(time.Second) == 0 {
		step = secondTick
	}
	return a.ctime < now.Add(-step).UnixNano()
}
