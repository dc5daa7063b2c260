package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Reconciled says how journal.jsonl and its hard-linked copy became one file.
type Reconciled struct {
	Restored bool   // journal.jsonl was missing or not valid, and is the copy now
	Linked   bool   // the copy was missing or not valid, and is journal.jsonl now
	Added    int    // number of lines of the damaged one that were appended to the valid one
	Kept     string // path of the saved copy of the replaced one; "" if there was none
}

// Reconcile makes journal.jsonl and its hard-linked copy the same file, if it can tell which of
// them is right. It reads each completely, without the lock. A valid copy wins. Of two valid ones
// the longer wins, if it begins with all lines of the other. Lines of a damaged copy that follow
// the last line of the valid one are appended to that. The replaced copy is saved. Otherwise
// nothing is changed, and the error is an *Error of code Corrupt that says why. If there is no
// journal at all, the error is nil.
//
// adopt means that a person accepts journal.jsonl if it is valid, and gives up lines that only
// STATE.json knows.
func (s *Store) Reconcile(ctx context.Context, adopt bool) (did Reconciled, err error) {
	judge := s.opts.Judge
	if adopt {
		judge = nil
	}
	for range 3 {
		c := s.copies(judge, adopt)
		plan := c.Plan(adopt)
		if plan.Err != nil {
			return did, plan.Err
		}
		again := false
		err = s.locked(ctx, func() error {
			if again = c.moved(); again {
				return nil
			}
			did, err = s.carryOut(&c, plan, adopt)
			return err
		})
		if err != nil || !again {
			return did, err
		}
	}
	return did, &refusal.RefusedError{Code: refusal.LockBusy, Message: "the journal changes while it is read", Remedy: "try again"}
}

// moved reports whether another file has replaced a copy since it was read, or a copy that may lose
// has grown.
func (c *Copies) moved() bool {
	for _, of := range []*Copy{&c.Here, &c.There} {
		info, err := os.Lstat(of.Path)
		switch {
		case of.Path == "":
		case of.info == nil || err != nil:
			if (of.info == nil) != (err != nil) {
				return true
			}
		case !os.SameFile(info, of.info) || !c.Same && info.Size() != of.info.Size():
			return true
		}
	}
	return false
}

// carryOut executes a plan, under the lock.
func (s *Store) carryOut(c *Copies, plan Plan, adopt bool) (did Reconciled, err error) {
	if plan.Winner == nil {
		return did, nil
	}
	if adopt && (plan.Winner.Kind == ValidCopy || plan.Winner.Kind == EmptyCopy) && plan.end < c.state {
		// STATE.json covers lines that are lost. The next load generates it again.
		if err := os.Rename(s.Path(stateFile), s.Path(s.aside(logDir, stateFile))); err != nil {
			return did, err
		}
	}
	if c.Same || c.There.Path == "" {
		return did, nil
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(c.There.Path), 0o700), s.disk.mkdir(archiveDir)); err != nil {
		return did, err
	}
	if plan.Added > 0 {
		if err := s.splice(plan); err != nil {
			return did, err
		}
	}
	did.Restored, did.Linked, did.Added = plan.Loser == &c.Here || plan.Added > 0, plan.Loser == &c.There, plan.Added
	if did.Kept, err = s.replace(plan); err != nil {
		return Reconciled{}, err
	}
	return did, s.disk.syncDir(".")
}

// spliced is the file in which a journal is assembled.
const spliced = journalFile + ".tmp"

// splice writes a file of the winner's lines and the lines that follow them.
func (s *Store) splice(plan Plan) error {
	_, err := fill(s.disk, spliced, spliced+".tmp", func(to file) error {
		from, err := os.Open(plan.Winner.Path)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(to, io.NewSectionReader(from, 0, plan.Winner.End))
		for _, line := range plan.added {
			if err == nil {
				_, err = to.Write(line)
			}
		}
		if err != nil {
			return err
		}
		return to.datasync()
	})
	return err
}

// replace gives the winner, or the spliced file in its place, the name of the loser, and returns
// where the loser is saved. A failed step is undone.
func (s *Store) replace(plan Plan) (kept string, err error) {
	here, from, to := s.Path(journalFile), plan.Winner.Path, plan.Loser.Path
	if plan.Loser.info != nil {
		if kept = s.beside(to); to == here {
			kept = s.Path(s.aside(archiveDir, journalFile))
		}
		if err := os.Rename(to, kept); err != nil {
			return "", err
		}
	}
	if plan.Added > 0 { // all lines of the winner are in the spliced file
		if from != here {
			if err := os.Rename(from, s.beside(from)); err != nil {
				return kept, err
			}
			from, to = here, from
		}
		if err := os.Rename(s.Path(spliced), here); err != nil {
			return kept, err
		}
	}
	if err = os.Link(from, to); err != nil && kept != "" && plan.Added == 0 {
		err = errors.Join(err, os.Rename(kept, to))
		kept = ""
	}
	return kept, err
}

// aside returns a new name, in a folder of the store, for a file that is replaced.
func (s *Store) aside(dir, name string) string {
	return fmt.Sprintf("%s/replaced-%d-%s", dir, s.now().UnixNano(), name)
}

// beside returns a new name beside a file that is replaced.
func (s *Store) beside(path string) string { return fmt.Sprintf("%s.%d", path, s.now().UnixNano()) }
