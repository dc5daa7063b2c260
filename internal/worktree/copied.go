package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// copiedFile is the file of the private folder that names the files which were copied into the work tree from elsewhere.
const copiedFile = "copied.json"

// maxCopied bounds it, in bytes.
const maxCopied = 4 << 20

// RecordCopied names files, by their paths from the top level, that were copied into the work tree and never count: they stand in no tree
// that is made of it, whatever its rules say and whatever its index has. It comes before the copies. It adds to the names of earlier calls.
func (t *Tree) RecordCopied(names []string) error {
	names = slices.DeleteFunc(slices.Clone(names), t.wasCopied)
	if len(names) == 0 {
		return nil
	}
	all := slices.Concat(t.copied, names)
	text, err := json.Marshal(all)
	if err == nil {
		err = rootfs.Fits(copiedFile, text, maxCopied)
	}
	if err != nil {
		return err
	}
	root, err := t.OpenPrivate()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.WriteFile(copiedFile, text, 0o600); err != nil {
		return err
	}
	t.leaveCopied(names)
	return nil
}

// readCopied leaves out what an earlier RecordCopied has named.
func (t *Tree) readCopied() error {
	root, err := t.OpenPrivate()
	if err != nil {
		return nil // there is none yet, or no tree is made with it
	}
	defer root.Close()
	text, err := root.ReadFile(copiedFile, maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []string
	if err == nil {
		err = json.Unmarshal(text, &names)
	}
	if err != nil { // without the names, secrets could get into a patch
		return fmt.Errorf("%s names the files that were copied into the work tree, and cannot be read: %w; remove the branch with ferrus branch --remove NAME --force", root.Join(copiedFile), err)
	}
	t.leaveCopied(names)
	return nil
}

func (t *Tree) leaveCopied(names []string) {
	t.copied = append(t.copied, names...)
	for _, name := range names {
		t.exclude = append(t.exclude, "/"+git.EscapeGlob(name))
	}
}

// TakenIn returns those of the paths that a tree has, or where it has a file in the place of a folder above.
func (t *Tree) TakenIn(ctx context.Context, tree string, paths []string) ([]string, error) {
	ask := git.Set{}
	for _, name := range paths {
		for ; name != "."; name = path.Dir(name) {
			ask.Add(name)
		}
	}
	if len(ask) == 0 || tree == "" {
		return nil, nil
	}
	out, _, err := t.Command().Run(ctx, append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, git.Sorted(ask)...)...)
	if err != nil {
		return nil, err
	}
	is := map[string]string{} // "mode type id" by path
	for _, line := range git.Split(out) {
		info, name, _ := strings.Cut(line, "\t")
		is[name] = info
	}
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		for at := name; at != "."; at = path.Dir(at) {
			if info, there := is[at]; there && (at == name || !strings.Contains(info, " tree ")) {
				return false
			}
		}
		return true
	}), nil
}

func (t *Tree) wasCopied(name string) bool { return slices.Contains(t.copied, name) }
