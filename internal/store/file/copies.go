package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A CopyKind is the condition of a file that should be the journal.
type CopyKind string

const (
	ValidCopy   CopyKind = "valid"   // every line follows the one before; after the last there may be a torn one
	EmptyCopy   CopyKind = "empty"   // it has no whole line
	DamagedCopy CopyKind = "damaged" // a line is altered, or the file cannot be read
	OlderCopy   CopyKind = "older"   // valid, but for the newest lines that were written on this machine
	ForeignCopy CopyKind = "foreign" // it was not made on this machine
	SpecialCopy CopyKind = "special" // no regular file
	MissingCopy CopyKind = "missing"
	OnlyCopy    CopyKind = "the only one" // a file without another to compare it with; it was not walked over
)

// A Copy is one of the two names of a journal, with the result of reading it from the first line to
// the last.
type Copy struct {
	Path  string
	Kind  CopyKind
	Err   error // why it cannot be used; nil for a valid, an empty and a missing one
	Lines int   // valid lines, from the start
	End   int64 // where the last of them ends, in bytes

	info fs.FileInfo // nil when there is no file
	top  *store.Line // the last valid line; nil when there is none
}

// Copies are the journal and its hard-linked copy in the git directory, which git clean does not reach.
type Copies struct {
	Here  Copy // journal.jsonl
	There Copy // the other; without a Path where there is no git repository
	Same  bool // both are the same file, as they should be

	judge func(io.ReaderAt, int64) error
	state int64 // how many bytes of a journal STATE.json covers
}

// Copies reads both copies completely. It takes no lock and changes nothing.
func (s *Store) Copies() Copies { return s.copies(s.opts.Judge, true) }

// copies reads both copies. walk says whether it reads an only copy, too.
func (s *Store) copies(judge func(io.ReaderAt, int64) error, walk bool) Copies {
	c := Copies{Here: Copy{Path: s.Path(journalFile)}, There: Copy{Path: s.backup()}, judge: judge}
	if idx, err := s.readIndex(); err == nil && idx.whole {
		c.state = idx.Journal.Bytes
	}
	here, err := os.Lstat(c.Here.Path)
	there, missing := fs.FileInfo(nil), fs.ErrNotExist
	if c.There.Path != "" {
		there, missing = os.Lstat(c.There.Path)
	}
	c.Same = err == nil && missing == nil && os.SameFile(here, there)
	if only := c.Same || errors.Is(missing, fs.ErrNotExist); !only || walk || err != nil || !here.Mode().IsRegular() {
		c.Here = examine(c.Here.Path, judge)
	} else {
		c.Here.Kind, c.Here.info = OnlyCopy, here
	}
	switch {
	case c.Same:
		path := c.There.Path
		c.There = c.Here
		c.There.Path = path
	case c.There.Path != "":
		c.There = examine(c.There.Path, judge)
	}
	return c
}

// examine reads the journal at path completely.
func examine(path string, judge func(io.ReaderAt, int64) error) Copy {
	c := Copy{Path: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Kind = MissingCopy
		return c
	case err != nil:
		c.Kind, c.Err = DamagedCopy, store.ReadError(err)
		return c
	}
	if c.info = info; !info.Mode().IsRegular() {
		c.Kind, c.Err = SpecialCopy, fmt.Errorf("%s is not a regular file", path)
		return c
	}
	root, name, err := rootfs.For(path)
	if err == nil {
		defer root.Close()
		var f *os.File
		if f, err = root.Open(name); err == nil {
			defer f.Close()
			c.walk(f, judge)
			return c
		}
	}
	c.Kind, c.Err = DamagedCopy, store.ReadError(err)
	return c
}

func (c *Copy) walk(f io.ReaderAt, judge func(io.ReaderAt, int64) error) {
	for l, err := range store.Lines(f, 0, c.info.Size()) {
		if err != nil {
			c.Kind, c.Err = DamagedCopy, err
			return
		}
		c.top, c.End = l, l.End
		c.Lines++
	}
	if c.top == nil {
		c.Kind = EmptyCopy
		return
	}
	c.Kind = ValidCopy
	if judge == nil {
		return
	}
	if c.Err = judge(f, c.info.Size()); c.Err != nil {
		c.Kind = ForeignCopy
		if errors.Is(c.Err, store.ErrOlder) {
			c.Kind = OlderCopy
		}
	}
}

// Last returns the number of the last valid line, 0 when there is none.
func (c Copy) Last() uint64 {
	if c.top == nil {
		return 0
	}
	return c.top.Seq
}

// ours reports whether the copy has something of this machine that only a person may give up.
func (c Copy) ours() bool { return c.Kind == DamagedCopy || c.Kind == OlderCopy }

// choose returns the right copy and the other one, nil if a person has to decide. adopt means that
// a person accepts the journal in .ferrus if it is valid.
func (c *Copies) choose(adopt bool) (winner, loser *Copy) {
	here, there := &c.Here, &c.There
	switch {
	case there.Path == "", c.Same, here.Kind == OnlyCopy, adopt && here.Kind == ValidCopy:
		return here, there
	case here.Kind == ValidCopy && there.Kind == ValidCopy:
		if there.End > here.End {
			here, there = there, here
		}
		if !continues(here, there) {
			return nil, nil
		}
		return here, there
	case here.Kind == ValidCopy:
		return here, there
	case there.Kind == ValidCopy:
		return there, here
	case here.Kind == OlderCopy && there.Kind == DamagedCopy:
		return here, there
	case there.Kind == OlderCopy && here.Kind == DamagedCopy:
		return there, here
	case here.ours() || there.ours():
		return nil, nil
	case here.Kind == EmptyCopy:
		return here, there
	case there.Kind == EmptyCopy:
		return there, here
	}
	return nil, nil
}

// continues reports whether a journal begins with all lines of a shorter one. The hash of each line
// covers all lines before it.
func continues(long, short *Copy) bool {
	f, err := os.Open(long.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	h, valid, err := store.HashAt(f, short.top.Off, long.End)
	return err == nil && valid && h == short.top.H
}

// A Plan describes how two copies of a journal become one file.
type Plan struct {
	Winner, Loser *Copy // nil where neither may replace the other, and if Err is set
	Added         int   // number of lines of the loser that follow the winner's last one
	Err           error // an *Error of code Corrupt that says why a person has to decide; nil where there is nothing to decide

	added [][]byte
	end   int64 // size of the resulting journal in bytes
}

// Plan returns what Reconcile would do. It reads the lines of the loser that follow the winner's
// last one.
func (c *Copies) Plan(adopt bool) Plan {
	var p Plan
	if p.Winner, p.Loser = c.choose(adopt); p.Winner == nil {
		if c.Here.ours() || c.There.ours() || c.Here.Kind == ValidCopy {
			p.Err = undecided("%s; its hard-linked copy %s", c.Here.words(), c.There.words())
		}
		return p
	}
	p.end = p.Winner.End
	if c.Same || c.There.Path == "" || adopt && p.Winner == &c.Here {
		return p
	}
	if p.Loser.Kind == DamagedCopy {
		p.added, p.end = p.Winner.more(p.Loser)
		p.Added = len(p.added)
	}
	if lacks := p.end < c.state || p.Winner.Kind == OlderCopy && c.judge(p.whole()) != nil; lacks && p.Loser.ours() && !adopt {
		return Plan{Err: undecided("%s; its hard-linked copy %s; both lack lines that were written here", c.Here.words(), c.There.words())}
	}
	return p
}

// whole returns the journal that the plan leads to, and its size.
func (p *Plan) whole() (io.ReaderAt, int64) {
	f, err := os.Open(p.Winner.Path)
	if err != nil {
		return bytes.NewReader(nil), 0
	}
	defer f.Close()
	text := make([]byte, p.Winner.End, p.end)
	if _, err := f.ReadAt(text, 0); err != nil {
		return bytes.NewReader(nil), 0
	}
	text = append(text, bytes.Join(p.added, nil)...)
	return bytes.NewReader(text), int64(len(text))
}

// Short returns how many bytes a journal of the size end lacks of what STATE.json was made from, 0
// for none.
func (c *Copies) Short(end int64) int64 { return max(0, c.state-end) }

func undecided(format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.Corrupt, Message: fmt.Sprintf(format, args...), Remedy: "nothing was changed; run ferrus doctor{branch}"}
}

// words describes a copy, with its path.
func (c *Copy) words() string {
	switch {
	case c.Kind == DamagedCopy:
		return fmt.Sprintf("%s is damaged after %d valid events (%s)", c.Path, c.Lines, cause(c.Err))
	case c.Lines > 0:
		return fmt.Sprintf("%s is %s, and ends with event %d", c.Path, c.Kind, c.Lines)
	}
	return fmt.Sprintf("%s is %s", c.Path, c.Kind)
}

// cause returns an error without its remedy.
func cause(err error) string {
	if e := (*refusal.RefusedError)(nil); errors.As(err, &e) {
		plain := *e
		plain.Remedy = ""
		return plain.Error()
	}
	return err.Error()
}

// more returns the lines of a damaged copy that follow the last line of the valid one, and where
// that ends in the damaged copy. They were appended after the two had become different files.
func (c *Copy) more(damaged *Copy) (raw [][]byte, end int64) {
	top := c.top
	f, err := os.Open(damaged.Path)
	if err != nil {
		return nil, c.End
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := store.ReadLine(r)
		if err != nil {
			return raw, top.End
		}
		if l, err := store.Follow(top, line, top.End); err == nil {
			raw, top = append(raw, line), l
		}
	}
}
