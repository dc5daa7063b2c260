package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// Drafts are comments that a person writes on lines of a patch before deciding about it. They are files in .ferrus/drafts, one for each
// submission, and no part of a journal: only the rejection that is made of them is.

// Limits of a draft.
const (
	maxComments = 200
	maxText     = 16 << 10 // bytes of a comment
	maxFile     = 8 << 20
)

// folder has the drafts, in .ferrus; lockFile is the lock of those who change them.
const (
	folder   = "drafts"
	lockFile = folder + "/.lock"
)

// busy is how long a change waits for others.
const busy = 5 * time.Second

// A Subject is what comments are about.
type Subject struct {
	Branch, Task, Submission string // Branch is "" for the project's own task
}

// SubjectOfAct is what an act was about.
func SubjectOfAct(a status.Act) Subject {
	return Subject{Branch: a.Report.Branch, Task: a.On.Task, Submission: a.On.Submission}
}

// A Comment is about one line of a patch.
type Comment struct {
	Path  string `json:"path"`
	Line  string `json:"line"`  // n12 of the new file, o12 of the old one
	Quote string `json:"quote"` // the line as it was shown
	Text  string `json:"text"`
}

// Where names the line for a reader: its path, and its number.
func (c Comment) Where() string {
	number := strings.TrimLeft(c.Line, "no")
	if strings.HasPrefix(c.Line, "o") {
		return c.Path + ":" + number + " (removed)"
	}
	return c.Path + ":" + number
}

// A Draft is the comments about one submission.
type Draft struct {
	Subject  Subject   `json:"subject"`
	Comments []Comment `json:"comments"`
}

// Text is what a rejection says: each comment with its path, its line, and the line quoted.
func (d Draft) Text() string {
	var b strings.Builder
	for i, c := range d.Comments {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n> %s\n\n%s\n", c.Where(), c.Quote, c.Text)
	}
	return b.String()
}

var (
	idForm   = safetext.NewForm(`^[A-Za-z0-9._-]*$`, 1, 80)
	lineForm = safetext.NewForm(`^[no][0-9]*$`, 2, 10)
)

// wrong refuses what cannot be saved.
func wrong(format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "this was not saved: " + fmt.Sprintf(format, args...), Person: true,
		Remedy: "correct it and send it again; nothing was changed"}
}

// A Store is the drafts of a project.
type Store struct{ Home string } // Home is its .ferrus

// name is the file of a subject: no name of a branch has an @.
func (s Subject) name() (string, error) {
	for _, id := range []string{s.Task, s.Submission} {
		if !idForm.MatchString(id) {
			return "", wrong("%q is no id", id)
		}
	}
	if s.Branch != "" && !idForm.MatchString(s.Branch) {
		return "", wrong("%q is no branch", s.Branch)
	}
	return path.Join(folder, s.Branch+"@"+s.Task+"@"+s.Submission+".json"), nil
}

// Read returns the draft of a subject, an empty one where there is none.
func (s Store) Read(about Subject) (Draft, error) {
	d := Draft{Subject: about}
	name, err := about.name()
	if err != nil {
		return d, err
	}
	var read Draft
	if err := s.read(name, &read); err != nil {
		return d, err
	}
	read.Subject = about
	return read, nil
}

// read reads a file of the drafts. One that is not there leaves what it is read into as it is.
func (s Store) read(name string, into any) error {
	root, err := rootfs.Open(s.Home)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := root.ReadFile(name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = json.Unmarshal(text, into); err != nil {
			err = fmt.Errorf("%s: %v", filepath.Join(s.Home, name), rootfs.Cause(err))
		}
	}
	return err
}

// replace writes a file of the drafts. what it has, for a refusal of one that could not be read again.
func (s Store) replace(name string, value any, what string) error {
	root, err := rootfs.Open(s.Home)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if text = append(text, '\n'); rootfs.Fits(name, text, maxFile) != nil {
		return wrong("%s have at most %d bytes together", what, maxFile)
	}
	return atomicfile.Replace(root, name, text, 0o600)
}

// Comment adds a comment to a draft, or replaces the one on the same line. An empty text removes it.
func (s Store) Comment(about Subject, c Comment) error {
	number, err := strconv.Atoi(strings.TrimLeft(c.Line, "no"))
	if !lineForm.MatchString(c.Line) || err != nil || number < 1 || c.Path == "" || len(c.Path) > 4096 {
		return wrong("the comment names no line of a patch")
	}
	c.Text, _ = safetext.Document(strings.TrimSpace(strings.ReplaceAll(c.Text, "\r\n", "\n")))
	c.Quote = safetext.Mark(c.Quote)
	if len(c.Text) > maxText {
		return wrong("a comment has at most %d bytes", maxText)
	}
	if quote := []rune(c.Quote); len(quote) > 400 {
		c.Quote = string(quote[:400]) + "…"
	}
	unlock, err := s.lock(about)
	if err != nil {
		return err
	}
	defer unlock()
	d, err := s.Read(about)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(d.Comments, func(old Comment) bool { return old.Path == c.Path && old.Line == c.Line })
	switch {
	case at >= 0 && c.Text == "":
		d.Comments = slices.Delete(d.Comments, at, at+1)
	case at >= 0:
		d.Comments[at] = c
	case c.Text == "":
		return nil
	case len(d.Comments) == maxComments:
		return wrong("a draft has at most %d comments", maxComments)
	default:
		d.Comments = append(d.Comments, c)
	}
	return s.write(d)
}

func (s Store) write(d Draft) error {
	name, err := d.Subject.name()
	if err != nil {
		return err
	}
	if len(d.Comments) > 0 {
		return s.replace(name, d, "the comments on one submission")
	}
	root, err := rootfs.Open(s.Home)
	if err != nil {
		return err
	}
	defer root.Close()
	return gone(root.Remove(name))
}

// Remove removes the draft of a subject, and returns it.
func (s Store) Remove(about Subject) (Draft, error) {
	unlock, err := s.lock(about)
	if err != nil {
		return Draft{}, err
	}
	defer unlock()
	d, err := s.Read(about)
	if err != nil {
		return Draft{}, err
	}
	return d, s.write(Draft{Subject: about})
}

// PutBack saves a draft that was removed, unless its subject has another one.
func (s Store) PutBack(d Draft) error {
	unlock, err := s.lock(d.Subject)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := s.Read(d.Subject); err != nil || len(now.Comments) > 0 {
		return err
	}
	return s.write(d)
}

// lock lets one caller at a time change the drafts: a page saves comments in parallel. The lock file is never removed: a
// second process could lock the old inode while a third locks the new one.
func (s Store) lock(about Subject) (unlock func(), err error) {
	if _, err := about.name(); err != nil {
		return nil, err
	}
	root, err := rootfs.Open(s.Home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := root.Path(lockFile)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), busy)
	defer cancel()
	lock, err := filelock.Acquire(ctx, file)
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("another process has held %s for %v; if it is stopped, continue or end it, then try again", file, busy)
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Stale returns the drafts of the same task about other submissions: the patch that they are about was replaced.
func (s Store) Stale(now Subject) ([]Draft, error) {
	root, err := rootfs.Open(s.Home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := root.ReadDir(folder)
	if err != nil {
		return nil, gone(err)
	}
	var list []Draft
	for _, entry := range entries {
		id, ok := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".json"), now.Branch+"@"+now.Task+"@")
		if !ok || id == now.Submission || !idForm.MatchString(id) {
			continue
		}
		d, err := s.Read(Subject{now.Branch, now.Task, id})
		if err != nil {
			return list, err
		}
		list = append(list, d)
	}
	return list, nil
}
