// Package queue is the folder of the tasks that wait: one Markdown file a task, in the order of their names.
//
// It is files and nothing else, for a person's editor as much as for ferrus. Who takes a task, and what comes of it, is for
// others to know: each becomes a branch that is called like its file.
package queue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

const (
	folder = "queue"
	taken  = "taken" // below it: those that have become branches
	ext    = ".md"
)

// An Item is a task that waits.
type Item struct {
	Name string // of its file without .md: one that a branch can have
	Path string
	Text string
}

// List returns the tasks that wait below a .ferrus folder, the next one first. What is no regular *.md file, or is hidden,
// is none of ours. The error names the files that hold no task or cannot give a branch its name; the others are returned all
// the same.
func List(home string) ([]Item, error) {
	dir := filepath.Join(home, folder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	bad := []error{err}
	var list []Item
	for _, d := range entries {
		name, ours := strings.CutSuffix(d.Name(), ext)
		if !ours || strings.HasPrefix(name, ".") || !d.Type().IsRegular() {
			continue
		}
		it := Item{Name: name, Path: filepath.Join(dir, d.Name())}
		switch it.Text, err = read(it); {
		case errors.Is(err, fs.ErrNotExist): // it was taken meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", it.Path, err))
		default:
			list = append(list, it)
		}
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	return list, errors.Join(bad...)
}

// read returns the text of a file that gives a branch its name and its task.
func read(it Item) (string, error) {
	if err := checkName(it.Name); err != nil {
		return "", err
	}
	f, err := os.Open(it.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, store.MaxDoc+1))
	if err != nil {
		return "", err
	}
	return string(text), store.CheckText("the task", string(text), store.MaxDoc)
}

// checkName refuses what no branch can be called.
func checkName(name string) error {
	if err := state.CheckBranch(name); err != nil {
		return &store.Error{Code: store.InvalidInput, What: err.Error(), Remedy: "take another name"}
	}
	return nil
}
