package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ferrus-go/ferrus/internal/store"
)

// Put adds a task below a .ferrus folder. Its name is made of the text's first line where none is given; one that is taken,
// by a task that waits, by one that has waited, or by a branch, is numbered: -2, -3 and so on. The file is there whole or not
// at all, and stays when power fails. The error is a *store.Error for a text or a name that cannot be.
func Put(home, name, text string) (Item, error) {
	if err := store.CheckText("the task", text, store.MaxDoc); err != nil {
		return Item{}, err
	}
	name = cmp.Or(name, slug(text))
	if err := checkName(name); err != nil {
		return Item{}, err
	}
	dir := filepath.Join(home, folder)
	if err := makeDir(dir); err != nil {
		return Item{}, err
	}
	draft, err := write(dir, text)
	if err != nil {
		return Item{}, err
	}
	defer os.Remove(draft)
	for n := 1; ; n++ {
		it := Item{Name: numbered(name, n), Text: text}
		it.Path = filepath.Join(dir, it.Name+ext)
		if known(home, it.Name) {
			continue
		}
		// A link never takes the place of a file, as a rename would.
		err := os.Link(draft, it.Path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return it, errors.Join(err, syncDir(dir))
	}
}

// Taken moves a task out of the queue, once its branch exists. What lies there already is never overwritten. A second call
// does nothing.
func Taken(it Item) error {
	from := filepath.Dir(it.Path)
	dir := filepath.Join(from, taken)
	if err := makeDir(dir); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, numbered(it.Name, n)+ext)
		// It is there before it is gone here, so that its name is known at every moment.
		err := os.Link(it.Path, to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrExist) && !same(it.Path, to):
			continue
		case err != nil && !errors.Is(err, fs.ErrExist): // else a call before was cut off after its link
			return err
		}
		if err := syncDir(dir); err != nil {
			return err
		}
		if err := os.Remove(it.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncDir(from)
	}
}

// known reports whether a task of that name has waited already, or there is such a branch.
func known(home, name string) bool {
	for _, path := range []string{filepath.Join(home, folder, taken, name+ext), filepath.Join(home, "branches", name)} {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}

// same reports whether two names are of one file.
func same(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// write puts a text into a file of its own, which List does not look at.
func write(dir, text string) (string, error) {
	f, err := os.CreateTemp(dir, ".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// syncDir makes the names in a folder durable, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
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
