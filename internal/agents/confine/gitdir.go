package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A Link is the file .git of a work tree, with what it says while an agent works and what it says otherwise.
type Link struct {
	Work   string `json:"work"`   // absolute path of the work tree
	GitDir string `json:"gitdir"` // that of the repository, which it names otherwise
	Guest  string `json:"guest"`  // the private one, which it names while the agent works
}

// Limits of what is copied, in bytes.
const (
	maxIndex = 1 << 30
	maxFile  = 64 << 20
	maxLink  = 64 << 10
)

// ErrPartial is the error of a repository that lacks objects.
var ErrPartial = errors.New("the repository is a partial clone, and an agent inside cannot fetch what it lacks")

// A GitDir is a private git directory.
type GitDir struct {
	Link    Link     // .git of the work tree, which Make leaves as it is
	Objects []string // the folders of objects that the directory reads at their own paths
	Covers  string   // where .git of the work tree is itself the git directory: its folder of objects, to be shown at Borrowed; otherwise ""
}

// Borrowed is the folder of a private git directory at which a sandbox shows the objects of the git directory that it covers.
const Borrowed = "borrowed"

// MakeGitDir makes the private git directory in the folder dir, in place of an earlier one, for the work tree of a repository. dir is
// below .ferrus.
func MakeGitDir(ctx context.Context, r *repository.Repository, dir string) (GitDir, error) {
	if !r.Git() {
		return GitDir{}, git.ErrNoGit
	}
	d := GitDir{Link: Link{Work: r.Top(), GitDir: r.GitDir(), Guest: dir}}
	if err := d.make(ctx, r); err != nil {
		return GitDir{}, fmt.Errorf("make a git directory for the agent: %w", err)
	}
	return d, nil
}

func (d *GitDir) make(ctx context.Context, r *repository.Repository) error {
	l := d.Link
	if err := WholeRepository(ctx, r); err != nil {
		return err
	}
	objects, err := stores(r.Objects())
	if err != nil {
		return err
	}
	alternate := git.Quoted(r.Objects())
	if l.covers() {
		d.Covers, objects, alternate = r.Objects(), objects[1:], "../"+Borrowed
	}
	d.Objects = objects
	commit, branch, err := r.Head(ctx)
	if err != nil {
		return err
	}
	parent, name := filepath.Split(l.Guest)
	above, err := rootfs.OpenBelow(parent, ".ferrus", 0o700)
	if err != nil {
		return err
	}
	defer above.Close()
	if err := above.RemoveTree(name); err != nil {
		return err
	}
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info", Borrowed} {
		if err := above.MkdirAll(name+"/"+sub, 0o700); err != nil {
			return err
		}
	}
	root, err := above.Sub(name)
	if err != nil {
		return err
	}
	defer root.Close()
	files := map[string]string{
		"config":                  gitConfig(ctx, commit),
		"objects/info/alternates": alternate + "\n",
		"HEAD":                    commit + "\n",
	}
	if branch != "" {
		files["HEAD"] = "ref: refs/heads/" + branch + "\n"
		files["packed-refs"] = "# pack-refs with: peeled fully-peeled sorted \n" + commit + " refs/heads/" + branch + "\n"
	}
	for file, text := range files {
		if err := root.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	copies := map[string]string{
		filepath.Join(r.CommonDir(), "shallow"):            "shallow",
		filepath.Join(r.CommonDir(), "info", "exclude"):    "info/exclude",
		filepath.Join(r.CommonDir(), "info", "attributes"): "info/attributes",
	}
	shared, _ := fs.Glob(os.DirFS(l.GitDir), "sharedindex.*")
	for _, name := range shared {
		copies[filepath.Join(l.GitDir, name)] = name
	}
	for from, to := range copies {
		if err := copyFile(root, from, to, maxFile); err != nil {
			return err
		}
	}
	return copyFile(root, r.IndexFile(), "index", maxIndex)
}

// WholeRepository refuses, with ErrPartial, a repository that may lack objects.
func WholeRepository(ctx context.Context, r *repository.Repository) error {
	_, _, err := r.UserCommand().Run(ctx, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	if git.SaidNo(err) {
		return nil
	}
	if err == nil {
		err = ErrPartial
	}
	return err
}

// gitConfig is the configuration of the private git directory. Its commits are signed by nobody, and made by the person for whom the
// agent works.
func gitConfig(ctx context.Context, commit string) string {
	version, format := 0, ""
	if len(commit) == 64 {
		version, format = 1, "[extensions]\n\tobjectformat = sha256\n"
	}
	text := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tlogallrefupdates = true\n%s"+
		"[gc]\n\tauto = 0\n[commit]\n\tgpgsign = false\n[user]\n", version, format)
	for _, key := range []string{"name", "email"} {
		out, _, err := git.Command{Dir: string(filepath.Separator)}.Run(ctx, "config", "--global", "--includes", "user."+key)
		value := strings.TrimSpace(string(out))
		if err != nil || value == "" {
			value = map[string]string{"name": "ferrus executor", "email": "executor@ferrus.invalid"}[key]
		}
		text += "\t" + key + " = " + git.ConfigQuoted(value) + "\n"
	}
	return text
}

// stores are a folder of objects and those that it names as its alternates, at any depth.
func stores(objects string) ([]string, error) {
	list := []string{objects}
	for i := 0; i < len(list); i++ {
		text, err := rootfs.ReadRegular(filepath.Join(list[i], "info", "alternates"), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			path := strings.TrimSuffix(line, "\n")
			if path == "" || strings.HasPrefix(path, "#") {
				continue
			}
			if strings.HasPrefix(path, `"`) {
				path = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Trim(path, `"`))
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(list[i], path)
			}
			if path = filepath.Clean(path); !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list, nil
}

// copyFile copies a file of git's into a folder; one that is missing is left out.
func copyFile(to *rootfs.Root, from, name string, most int64) error {
	text, err := rootfs.ReadRegular(from, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = to.WriteFile(name, text, 0o600)
	}
	return err
}

// covers reports whether .git of the work tree is the git directory itself, not a file that names it.
func (l Link) covers() bool { return l.GitDir == filepath.Join(l.Work, ".git") }

// errCovers keeps the git directory of a repository from being replaced.
var errCovers = errors.New(".git of the work tree is the git directory of the repository, not a file that names it; work on a branch")

// Line is the text of the file .git that names the private git directory.
func (l Link) Line() string { return line(l.Guest) }

// Enter lets the work tree name the private git directory.
func (l Link) Enter() error {
	if l.covers() {
		return errCovers
	}
	return l.put(l.Guest)
}

// Leave lets the work tree name the git directory of the repository again, whatever is in its place. It reports whether the agent
// had replaced the file that Enter has left. A work tree that is gone is no error.
func (l Link) Leave() (replaced bool, err error) {
	if l.covers() {
		return false, errCovers
	}
	root, err := rootfs.Open(l.Work)
	if errors.Is(err, fs.ErrPermission) { // no sandbox keeps an agent from taking the rights away
		if err = os.Chmod(l.Work, 0o755); err == nil {
			root, err = rootfs.Open(l.Work)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	text, err := root.ReadFile(".git", maxLink)
	switch {
	case err == nil && string(text) == line(l.GitDir):
		return false, nil
	case err == nil:
		replaced = string(text) != line(l.Guest)
	default:
		replaced = true
		if err := root.RemoveTree(".git"); err != nil {
			return replaced, err
		}
	}
	return replaced, l.put(l.GitDir)
}

func (l Link) put(dir string) error {
	root, err := rootfs.Open(l.Work)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(".git", []byte(line(dir)), 0o644)
}

// line is the file .git of a work tree.
func line(dir string) string { return "gitdir: " + dir + "\n" }
