package worktree

import (
	"errors"
	"os"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// CheckName and ReadMerge are for comparisons with git, and for fuzzing.
var (
	CheckName = repository.CheckName
	ReadMerge = readMerge
)

// Cut calls do before each change of a checkout; its error ends what the checkout does.
func (c *Checkout) Cut(do func() error) { c.step = do }

// Believe has a checkout take the file system's change times for honest, or not.
func (c *Checkout) Believe(honest bool) { c.force = &honest }

// Hooked replaces what a Restore asks of the system; what is nil stays.
func (t *Tree) Hooked(at func(path string), noExchange bool, now func() time.Time, pause func(time.Duration)) {
	t.hooks = hooks{at: at, now: now, pause: pause}
	if noExchange {
		t.hooks.exchange = func(place, place) error { return errors.ErrUnsupported }
	}
	if pause != nil {
		t.hooks.writers = func(*os.File) (bool, bool) { return false, false }
	}
}

// Grace is how long a file that came out is left to programs that may have it open.
const Grace = grace

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

// Dated is whether files in a folder are known again at all.
var Dated = filestat.Dated
