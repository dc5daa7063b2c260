package agreement

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Copies are the ignored files of the project's own folder that its .worktreeinclude names, with a person's word on them.
type Copies struct {
	checkout.IncludeList
	Agreed  []string // may be copied into new work trees
	Waiting []string // may not, before a person agrees
	Top     string   // of the work tree that has them
}

// CopiesOf looks at the files of the project at root, and at no branch of it. Without .worktreeinclude it is empty. A nil record agrees to none.
func CopiesOf(ctx context.Context, record *trust.Project, root string) (Copies, error) {
	if !rootfs.Exists(filepath.Join(project.Top(root), checkout.IncludeFile)) || !project.At(root, "").Initialised() {
		return Copies{}, nil
	}
	tree, err := project.Repository(ctx, root)
	if err != nil {
		return Copies{}, err
	}
	c := Copies{Top: tree.Top()}
	if c.IncludeList, err = checkout.FindIncluded(ctx, tree); err != nil {
		return Copies{}, refusal.Git(err)
	}
	names := c.Names()
	for _, name := range record.Copies() {
		if at := git.Printable(name); !slices.Contains(names, name) && !slices.Contains(c.Missing, at) {
			c.Missing = append(c.Missing, at)
		}
	}
	c.Agreed = record.AgreedCopies(names)
	c.Waiting = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(c.Agreed, name) })
	return c, nil
}

// Stamp changes when another set of files is copied, or one of them is written; "" for none.
func (c Copies) Stamp() string {
	var b strings.Builder
	for _, f := range c.Only(c.Agreed) {
		fmt.Fprintf(&b, "\x00%s\x00%d\x00%d", f.Name, f.Size, f.Time.UnixNano())
	}
	return b.String()
}

// Into copies the files into the new work tree t, none of whose trees will have them. What one of the trees has stays as it is there. It
// returns what was not copied, with the reason.
func (c Copies) Into(ctx context.Context, t *worktree.Tree, trees ...string) (left []string, err error) {
	names := c.Agreed
	for _, id := range trees {
		taken, err := t.TakenIn(ctx, id, names)
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(taken, name) })
	}
	if err := t.RecordCopied(names); err != nil || len(names) == 0 {
		return nil, err
	}
	return checkout.CopyIncluded(c.Only(names), c.Top, t.Top())
}

// Notes says in a line each what is not copied and why, and what helps.
func (c Copies) Notes() (notes []string) {
	if n := len(c.Waiting); n > 0 {
		notes = append(notes, c.WaitingText()+": "+format.OneLine(strings.Join(c.Waiting, ", "), maxNote))
	}
	if len(c.LeftOut) > 0 {
		notes = append(notes, checkout.IncludeFile+" does not copy "+format.OneLine(strings.Join(c.LeftOut, "; "), maxNote))
	}
	if len(c.Missing) > 0 {
		notes = append(notes, c.MissingText())
	}
	return notes
}

// MissingText names what is to be copied and is not on this computer; "" for none.
func (c Copies) MissingText() string {
	if len(c.Missing) == 0 {
		return ""
	}
	return checkout.IncludeFile + " names what is not here: " + format.OneLine(strings.Join(c.Missing, ", "), maxNote)
}

// maxNote bounds the names of a note, in bytes.
const maxNote = 400

// WaitingText says how many files wait for a person's word, and the command; "" for none.
func (c Copies) WaitingText() string {
	if len(c.Waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s not copied into new work trees until you agree (ferrus trust)", format.Count(len(c.Waiting), "file", "files"), checkout.IncludeFile)
}
