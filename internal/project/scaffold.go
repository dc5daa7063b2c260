package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A project has files beside its state: the template of .ferrus with the skills of agents and the example of workflows.json, its
// schema, and the line in .gitignore. Existing files stay as they are, and no link leads out of the project.

// schemaName is the file in which editors look up what may stand in workflows.json.
const schemaName = "workflows.schema.json"

// Copy copies what is missing of the template into .ferrus, and of the schema, and returns what that was. No link
// under .ferrus leads it out of there.
func Copy(root string) (wrote []string, err error) {
	home, err := rootfs.Open(filepath.Join(root, ".ferrus"))
	if err != nil {
		return nil, err
	}
	defer home.Close()
	put := func(name string, text []byte) error {
		if _, err := home.Lstat(name); err == nil {
			return nil
		}
		if err := home.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := home.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) { // somebody has made it just now
			return nil
		}
		if err != nil {
			return err
		}
		wrote = append(wrote, ".ferrus/"+name)
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	}
	template := ferrus.Template()
	err = fs.WalkDir(template, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(template, name)
		if err != nil {
			return err
		}
		return put(name, text)
	})
	if err == nil {
		err = put(schemaName, workflow.Schema)
	}
	return wrote, err
}

// ignoreLine is the line of a .gitignore that Ignore adds.
const ignoreLine = "/.ferrus/\n"

// withoutLine returns the text of the folder's .gitignore without the line of [Ignore], and whether it has that line.
func withoutLine(project *rootfs.Root) (rest []byte, found bool) {
	text, err := project.ReadFile(ignoreName, maxIgnore)
	if err != nil {
		return nil, false
	}
	for line := range bytes.Lines(text) {
		if string(bytes.TrimRight(line, "\r\n"))+"\n" == ignoreLine {
			found = true
			continue
		}
		rest = append(rest, line...)
	}
	return rest, found
}

// Ignores reports whether the folder's .gitignore has the line of [Ignore].
func Ignores(root string) bool {
	project, err := rootfs.Open(root)
	if err != nil {
		return false
	}
	defer project.Close()
	_, found := withoutLine(project)
	return found
}

// Unignore takes the line of [Ignore] out of the folder's .gitignore, and removes the file if nothing else is in it.
func Unignore(root string) error {
	project, err := rootfs.Open(root)
	if err != nil {
		return err
	}
	defer project.Close()
	rest, found := withoutLine(project)
	switch {
	case !found:
		return nil
	case len(bytes.TrimSpace(rest)) == 0:
		return project.Remove(ignoreName)
	}
	return project.WriteFile(ignoreName, rest, 0o644)
}

// Ignore adds .ferrus to the folder's .gitignore.
func Ignore(root string) error {
	project, err := rootfs.Open(root)
	if err != nil {
		return err
	}
	defer project.Close()
	f, err := project.OpenFile(ignoreName, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	entry, last := ignoreLine, []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		_, err = f.ReadAt(last, info.Size()-1)
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if last[0] != '\n' {
		entry = "\n" + entry
	}
	_, err = f.WriteString(entry)
	return errors.Join(err, f.Close())
}

const (
	ignoreName = ".gitignore"
	maxIgnore  = 16 << 20 // bytes; git reads all of it
)

// CheckIgnore refuses, before anything is made, a .gitignore to which nothing can be added: a link may lead outside of
// the project, and git would wait at a FIFO.
func CheckIgnore(ctx context.Context, root string) error {
	name := filepath.Join(root, ignoreName)
	info, err := os.Lstat(name)
	var why string
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() <= maxIgnore:
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		if !worktree.Inside(ctx, root) || worktree.Ignored(ctx, root, ".ferrus/journal.jsonl") {
			return nil // there is nothing to add
		}
		why = " is a symbolic link, which git and ferrus do not follow"
	case info.Mode().IsRegular():
		why = " is too large for git to read"
	default:
		why = " is not a regular file"
	}
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: name + why, Remedy: "make it a regular file, or remove it"}
}

// Upstream reports whether root has the state of upstream ferrus, which wrote version 1.
func Upstream(root string) bool {
	raw, err := rootfs.ReadOwn(filepath.Join(root, ".ferrus", "STATE.json"), MaxState)
	var head struct {
		Version int `json:"schema_version"`
	}
	return err == nil && json.Unmarshal(raw, &head) == nil && head.Version == 1
}

// MaxState bounds what is read of STATE.json, in bytes: it holds no texts.
const MaxState = 8 << 20
