package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Put adds a task below a .ferrus folder. Its name is made of the text's first line where none is given; one that is taken,
// by a task that waits, by one that has waited, or by a branch, is numbered: -2, -3 and so on. The file is there whole or not
// at all, and stays when power fails. The error is a *store.Error for a text or a name that cannot be.
func Put(home, name, text string) (Item, error) {
	if err := store.CheckText("the task", text, store.MaxDoc); err != nil {
		return Item{}, err
	}
	text = safetext.Clean(text)
	if err := store.CheckText("the task", text, store.MaxDoc); err != nil {
		return Item{}, err
	}
	name = cmp.Or(name, slug(text))
	if err := checkName(name); err != nil {
		return Item{}, err
	}
	root, err := rootfs.Open(home)
	if err != nil {
		return Item{}, err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, folder, 0o700); err != nil {
		return Item{}, err
	}
	for n := 1; ; n++ {
		it := Item{Name: numbered(name, n), Text: text}
		it.Path = filepath.Join(root.Dir(), folder, it.Name+ext)
		if taken, err := known(root, it.Name); err != nil {
			return Item{}, err
		} else if taken {
			continue
		}
		err := atomicfile.Create(root, path.Join(folder, it.Name+ext), []byte(text), 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return it, err
	}
}

// Taken moves a task out of the queue, once its branch exists. What lies there already is never overwritten. A second call
// does nothing, even where another task has got the name of the first.
func Taken(it Item) error {
	root, err := rootfs.Open(filepath.Dir(filepath.Dir(it.Path)))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, takenDir, 0o700); err != nil {
		return err
	}
	from := path.Join(folder, it.Name+ext)
	// Once it is taken, its name may be given to another task.
	if text, err := read(root, it); err == nil && text != safetext.Clean(it.Text) {
		return nil
	}
	for n := 1; ; n++ {
		to := path.Join(takenDir, numbered(it.Name, n)+ext)
		// It is there before it is gone here, so that its name is known at every moment.
		err := root.Link(from, to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrExist) && !same(root, from, to):
			continue
		case err != nil && !errors.Is(err, fs.ErrExist): // else a call before was cut off after its link
			return err
		}
		if err := atomicfile.SyncDir(root, takenDir); err != nil {
			return err
		}
		if err := atomicfile.Remove(root, from); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
}

// known reports whether a task of that name has waited already, or there is such a branch.
func known(root *rootfs.Root, name string) (bool, error) {
	for _, at := range []string{path.Join(takenDir, name+ext), path.Join("branches", name)} {
		_, err := root.Lstat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// same reports whether two names are of one file.
func same(root *rootfs.Root, a, b string) bool {
	one, err := root.Lstat(a)
	if err != nil {
		return false
	}
	other, err := root.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// longest is how many bytes the name of a branch has at most.
const longest = 40

// slug is the first line of a text as a name.
func slug(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	words := strings.FieldsFunc(strings.ToLower(first), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return cmp.Or(strings.TrimRight(name[:min(len(name), longest)], "-"), "task")
}

// numbered is the nth name for one that is taken.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	suffix := fmt.Sprintf("-%d", n)
	return name[:min(len(name), longest-len(suffix))] + suffix
}
