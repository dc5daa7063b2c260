package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Branches returns the names of the project's branches, sorted.
func Branches(root string) ([]string, error) {
	if main := At(root, ""); main.InDatabase() {
		return main.sharedBranches(context.Background())
	}
	names, err := Folders(filepath.Join(At(root, "").Dir(), "branches"))
	return slices.DeleteFunc(names, func(name string) bool {
		return state.CheckBranch(name) != nil || !At(root, name).Initialised()
	}), err
}

// LastEvent returns the newest event of a task from the folder of its archive.
func LastEvent(dir string) (*store.Line, error) {
	root, err := rootfs.OpenBelow(dir, DirName, 0)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return LastEventIn(root, ".")
}

// LastEventIn is LastEvent for the folder dir of a root. It reads the end of the journal only.
func LastEventIn(root *rootfs.Root, dir string) (*store.Line, error) {
	name := path.Join(dir, "journal.jsonl")
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	off, err := store.Tail(f, info.Size(), 1)
	if err != nil {
		return nil, err
	}
	text := make([]byte, min(info.Size()-off, store.MaxLine))
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return nil, err
	}
	text = bytes.TrimRight(text, "\n")
	var l store.Line
	if err := json.Unmarshal(text[bytes.LastIndexByte(text, '\n')+1:], &l); err != nil {
		return nil, fmt.Errorf("%s does not end with a line that ferrus writes", root.Join(name))
	}
	return &l, nil
}

// Folders returns the names of the folders in dir, sorted; none where there is no dir. Links are none, and dir may be
// no link from .ferrus on.
func Folders(dir string) ([]string, error) {
	root, err := rootfs.OpenBelow(dir, DirName, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return FoldersIn(root, ".")
}

// FoldersIn is Folders for the folder dir of a root.
func FoldersIn(root *rootfs.Root, dir string) ([]string, error) {
	entries, err := root.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// RemovedLayout is how the name of a removed branch ends, after the @: when that was.
const RemovedLayout = "20060102T150405.000"

// ArchivedBranches is where branches lie that were removed, relative to the .ferrus folder.
const ArchivedBranches = "archive/branches"

// RemovingPrefix begins the names of the folders of removed branches of which ferrus gc may have removed a part.
const RemovingPrefix = ".going-"
