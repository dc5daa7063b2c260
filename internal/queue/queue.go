// Package queue is the folder of tasks that wait: one Markdown file for each task, in the order of
// their names.
//
// The files are the whole queue: you can edit them as well as ferrus can. internal/fleet takes
// tasks from the queue. Each becomes a branch that has the name of its file.
package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

const (
	folder   = "queue"
	takenDir = "queue/taken" // those that have become branches
	ext      = ".md"
)

// An Item is a task in the queue.
type Item struct {
	Name string // of its file without .md; valid as the name of a branch
	Path string
	Text string
}

// Title returns the first line of the task that is not empty, without hidden characters; of a pipeline that waits its name and
// its topic.
func (it Item) Title() string {
	if pipeline, topic, ok := it.Pipeline(); ok {
		return safetext.Line(pipeline + ": " + strings.Join(strings.Fields(topic), " "))
	}
	first, _, _ := strings.Cut(strings.Trim(it.Text, "\n"), "\n")
	return safetext.Line(first)
}

// List returns the tasks in the queue of a .ferrus folder, the next one first. It ignores files
// that are hidden or are not regular *.md files. The error names the files that contain no task,
// have a second name elsewhere, or cannot name a branch; the other tasks are returned all the same.
// If the folder is a link, that is an error, and no task is returned.
func List(home string) ([]Item, error) {
	root, err := rootfs.Open(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := root.ReadDir(folder)
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
		it := Item{Name: name, Path: filepath.Join(root.Dir(), folder, d.Name())}
		switch it.Text, err = read(root, it); {
		case errors.Is(err, fs.ErrNotExist): // the task was taken meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", it.Path, err))
		default:
			list = append(list, it)
		}
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	return list, errors.Join(bad...)
}

// read returns the text of a file that can name a branch and contains its task.
func read(root *rootfs.Root, it Item) (string, error) {
	if err := checkName(it.Name); err != nil {
		return "", err
	}
	name := path.Join(folder, it.Name+ext)
	if err := checkLinks(root, name); err != nil {
		return "", err
	}
	text, err := root.ReadFile(name, store.MaxDoc)
	if errors.Is(err, rootfs.ErrTooLarge) {
		return "", &store.Error{Code: store.TooLarge, What: fmt.Sprintf("it has more than %d bytes", store.MaxDoc), Remedy: "shorten it, or move it away"}
	}
	if err != nil {
		return "", err
	}
	if err := store.CheckText("the task", string(text), store.MaxDoc); err != nil { // before it is cleaned: torn text is none
		return "", err
	}
	clean := safetext.Clean(string(text))
	return clean, store.CheckText("the task", clean, store.MaxDoc)
}

// checkLinks refuses a file with a second name outside of the queue: someone may have linked one of
// your files here, and its text would be given to agents. While a task is put or taken it has two
// names in the queue for a moment, or permanently if that was interrupted.
func checkLinks(root *rootfs.Root, name string) error {
	for try := 0; ; try++ {
		file, err := root.Lstat(name)
		if err != nil {
			return err
		}
		links, known := linksOf(file), 0
		if links <= 1 {
			return nil
		}
		for _, dir := range []string{folder, takenDir} {
			entries, err := root.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, d := range entries {
				if info, err := root.Lstat(path.Join(dir, d.Name())); err == nil && os.SameFile(file, info) {
					known++
				}
			}
		}
		switch {
		case links <= known:
			return nil
		case try == 2: // a name that was being removed is gone by now
			return &store.Error{Code: store.InvalidInput, What: fmt.Sprintf("the file has %d names (hard links) of which %d are in the queue", links, known),
				Remedy: "copy it to a file of its own in the queue"}
		}
	}
}

// checkName refuses names that a branch cannot have.
func checkName(name string) error {
	if err := state.CheckBranch(name); err != nil {
		return &store.Error{Code: store.InvalidInput, What: err.Error(), Remedy: "take another name"}
	}
	return nil
}
