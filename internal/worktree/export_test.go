package worktree

import (
	"time"
)

// ReadMerge is for fuzzing.
var ReadMerge = readMerge

// Clock sets the time by which files are known again: with one that is ahead they are young never.
func (t *Tree) Clock(now func() time.Time) { t.looks = now }

// Known is how many files the stat table of the Tree has.
func (t *Tree) Known() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.table == nil {
		return 0
	}
	return len(t.table.files)
}
