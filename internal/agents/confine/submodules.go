package confine

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A Submodule is a submodule of a work tree with its .git. Git follows that into another git directory, whose programs it runs: also the
// git of a person, who only looks at the work tree around it.
type Submodule struct {
	Path   string `json:"path"`             // from the top of the work tree, with slashes
	Text   string `json:"text,omitempty"`   // of the file .git; "" if there is none
	Folder bool   `json:"folder,omitempty"` // .git is a folder
}

// DotGit is the path of .git, from the top of the work tree.
func (n Submodule) DotGit() string { return path.Join(n.Path, ".git") }

// Submodules returns the submodules of a work tree as they are.
func Submodules(ctx context.Context, r *repository.Repository) ([]Submodule, error) {
	paths, err := submodules(ctx, r)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	root, err := rootfs.Open(r.Top())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := make([]Submodule, 0, len(paths))
	for _, name := range paths {
		n := Submodule{Path: name}
		info, err := root.Lstat(n.DotGit())
		if err == nil {
			n.Folder = info.IsDir()
			if !n.Folder {
				var text []byte
				text, err = root.ReadFile(n.DotGit(), maxLink)
				n.Text = string(text)
			}
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) { // where a link is, or nothing can be read, git does not look either
			list = append(list, n)
		}
	}
	return list, nil
}

// linkMode is the mode of a submodule in an index, and linkExtension the signature of an index that shares its entries with another.
var linkMode, linkExtension = []byte{0, 0, 0xe0, 0}, []byte("link")

// submodules are the paths of the submodules in the index. It starts no process where there are none.
func submodules(ctx context.Context, r *repository.Repository) ([]string, error) {
	index, err := rootfs.ReadRegular(r.IndexFile(), maxIndex)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(index, linkMode) && !bytes.Contains(index, linkExtension) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, _, err := r.UserCommand().Run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, entry := range git.Split(out) {
		if facts, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(facts, repository.ModeLink+" ") {
			list = append(list, name)
		}
	}
	return list, nil
}

// PutBack makes .git of the submodule what it was before an agent worked in the work tree top. A .git that was a folder is left: a
// sandbox has kept the agent from it.
func (n Submodule) PutBack(top string) error {
	root, err := rootfs.Open(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if gone, err := n.followed(root); gone || err != nil || n.Folder {
		return err
	}
	text, err := root.ReadFile(n.DotGit(), maxLink)
	switch {
	case err == nil && n.Text != "" && string(text) == n.Text, errors.Is(err, fs.ErrNotExist) && n.Text == "":
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		if err := root.RemoveTree(n.DotGit()); err != nil || n.Text == "" {
			return err
		}
	}
	return root.WriteFile(n.DotGit(), []byte(n.Text), 0o644)
}

// followed reports whether the folder of the submodule is gone. A link in its place, by which git would find a repository, is removed.
func (n Submodule) followed(root *rootfs.Root) (gone bool, err error) {
	for i := range n.Path + "/" {
		if i < len(n.Path) && n.Path[i] != '/' {
			continue
		}
		info, err := root.Lstat(n.Path[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return true, nil
		case err != nil:
			return false, err
		case info.Mode()&fs.ModeSymlink != 0:
			if _, err := os.Stat(root.Join(n.DotGit())); err != nil {
				return true, nil
			}
			return true, root.Remove(n.Path[:i])
		case !info.IsDir():
			return true, nil
		}
	}
	return false, nil
}

// WithoutSubmodules makes a copy of the index in a file below .ferrus, with which git does not look into submodules, and returns the
// variables for that; nil if there are none. It is for those who read the work of an agent outside.
func WithoutSubmodules(ctx context.Context, r *repository.Repository, file string) ([]string, error) {
	paths, err := submodules(ctx, r)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	dir, name := path.Split(file)
	root, err := rootfs.OpenBelow(dir, ".ferrus", 0o700)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := copyFile(root, r.IndexFile(), name, maxIndex); err != nil {
		return nil, err
	}
	env := []string{"GIT_INDEX_FILE=" + file}
	if sparse(ctx, r) { // there git would look at what is there all the same
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=sparse.expectFilesOutsideOfPatterns", "GIT_CONFIG_VALUE_0=true")
	}
	c := r.UserCommand()
	c.Env, c.Stdin = append(c.Env, env...), strings.NewReader(strings.Join(paths, "\x00"))
	if _, _, err := c.Run(ctx, "update-index", "--skip-worktree", "-z", "--stdin"); err != nil {
		return nil, err
	}
	return env, nil
}

// sparse reports whether the work tree is a sparse checkout, as those see it who read there. Every call of our own says that it is none.
func sparse(ctx context.Context, r *repository.Repository) (is bool) {
	c := git.Command{Dir: r.Top(), Env: []string{"GIT_DIR=" + r.GitDir(), "GIT_COMMON_DIR=" + r.CommonDir()}}
	out, _, err := c.Run(ctx, "config", "--type=bool", "--show-scope", "--get-all", "core.sparseCheckout")
	for line := range strings.Lines(string(out)) {
		if scope, value, _ := strings.Cut(strings.TrimSpace(line), "\t"); scope != "command" {
			is = value == "true"
		}
	}
	return err == nil && is
}
