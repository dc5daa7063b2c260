package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Commit is what is to be committed to the branch that is checked out.
type Commit struct {
	Parent  string // the commit that is checked out; "" before the first
	Tree    string // the files, which the repository has
	Keep    []TreeEntry
	Message string
	Hooks   Hooks
	Said    io.Writer // gets what the hooks and the signing print

	// Unchanged is asked when the hooks have run. Its error stops the commit.
	Unchanged func(ctx context.Context) error
}

// A HookError is why nothing was committed: a hook changed what was to be committed.
type HookError struct{ Files []string }

// hookChanged says what a person can do about it.
var hookChanged = &refusal.Kind{Code: refusal.TreeChanged, Remedy: `commit with git; or ferrus reopen{branch} -m "..." has the change made, checked and reviewed`, Person: true}

// Refusal returns how a *HookError is refused, without its message.
func (e *HookError) Refusal() *refusal.RefusedError { return hookChanged.Refusal() }

func (e *HookError) Error() string {
	return "a hook changed files, and nothing was committed: " + strings.Join(e.Files, " ")
}

// maxMessage bounds the message of a commit as the hooks leave it, in bytes.
const maxMessage = 1 << 20

// inProgress are what git has in its directory while a merge, a rebase or the like is not over.
var inProgress = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"}

// InProgress returns what of git is not over in the work tree, such as a merge; "" for nothing.
func (r *Repository) InProgress() string {
	for _, name := range inProgress {
		if filestat.Exists(filepath.Join(r.gitDir, name)) {
			return strings.ToLower(strings.TrimSuffix(strings.ReplaceAll(name, "-", "_"), "_HEAD"))
		}
	}
	return ""
}

// Staged lists the paths at which the user's index differs from a commit, that of the first commit for "". A file with a conflict is an error.
func (r *Repository) Staged(ctx context.Context, commit string) (git.Set, error) {
	unmerged, _, err := r.UserCommand().Run(ctx, "ls-files", "-z", "--unmerged")
	if err == nil && len(unmerged) > 0 {
		_, name, _ := strings.Cut(git.Split(unmerged)[0], "\t")
		err = fmt.Errorf("%s has an unmerged conflict in the index", git.Printable(name))
	}
	if err != nil {
		return nil, err
	}
	if commit == "" {
		commit = r.ID("tree", nil)
	}
	out, _, err := r.UserCommand().Run(ctx, "diff-index", "--cached", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", commit)
	return git.SetOf(git.Split(out)), err
}

// MakeCommit commits a tree as git commit does, with the hooks and the signing of the person, to the branch that is checked out. The commit has
// exactly that tree, and beside it the entries of Keep. deltas are all differences to the parent. In the user's index the committed files
// become those of the commit, but for what the person had staged there.
//
// The error is a *HookError if a hook changed what is committed. If the ref has moved meanwhile nothing was changed. With an id and an error
// the commit was made, and the index is as it was.
func (r *Repository) MakeCommit(ctx context.Context, c Commit, deltas []Delta, staged git.Set) (id string, err error) {
	draft, err := r.TempDir("restore-commit-*")
	if err != nil {
		return "", err
	}
	defer r.RemoveTemp(draft)
	index := filepath.Join(draft, "index")
	tree, err := r.draftIndex(ctx, index, c)
	if err != nil {
		return "", err
	}
	hook := func(name string, args ...string) error {
		h := r.named(c)
		h.Env = []string{"GIT_INDEX_FILE=" + index} // a hook finds the repository as it does with git
		if _, err := h.Own(ctx, c.Said, append([]string{"hook", "run", "--ignore-missing", name, "--"}, args...)...); err != nil {
			return fmt.Errorf("the hook %s refused the commit: %w", name, err)
		}
		return nil
	}
	text, err := r.edited(ctx, c.Message, hook)
	if err != nil {
		return "", err
	}
	if err := c.Unchanged(ctx); err != nil {
		return "", err
	}
	switch now, err := r.writeTree(ctx, index); {
	case err != nil:
		return "", err
	case now != tree:
		all, err := r.Deltas(ctx, tree, now)
		hooked := &HookError{}
		for _, d := range all {
			hooked.Files = append(hooked.Files, git.Printable(d.Path))
		}
		return "", errors.Join(hooked, err)
	}
	if id, err = r.commitTree(ctx, c, tree, text); err != nil {
		return "", err
	}
	was := c.Parent
	if was == "" {
		was = r.nothing
	}
	r.Changing()
	if _, err := r.named(c).Own(ctx, c.Said, "update-ref", "-m", "commit: "+git.FirstLine(text), "HEAD", id, was); err != nil {
		return "", err
	}
	err = r.unstage(ctx, deltas, staged)
	_ = hook("post-commit") // as with git, it cannot undo the commit
	return id, err
}

// named is a call of the person's git that names the directories of the repository.
func (r *Repository) named(c Commit) git.Command {
	return git.Command{Dir: r.dir, Config: []string{"core.hooksPath=" + c.Hooks.Dir, "i18n.commitEncoding=UTF-8"},
		Env: []string{"GIT_DIR=" + r.gitDir, "GIT_COMMON_DIR=" + r.common, "GIT_WORK_TREE=" + r.dir}}
}

// commitTree writes the commit of a tree, signed if the person's configuration says so.
func (r *Repository) commitTree(ctx context.Context, c Commit, tree, text string) (id string, err error) {
	call := r.named(c)
	args := []string{"commit-tree", tree}
	if c.Parent != "" {
		args = append(args, "-p", c.Parent)
	}
	if sign, err := call.Own(ctx, io.Discard, "config", "--type=bool", "commit.gpgSign"); err == nil && strings.TrimSpace(string(sign)) == "true" {
		args = append(args, "-S")
	}
	call.Stdin = strings.NewReader(text)
	out, err := call.Own(ctx, c.Said, append(args, "-F", "-")...)
	return strings.TrimSpace(string(out)), err
}

// SaveCommit writes the commit of a tree as the person, with their signing and without hooks, and saves it as refs/ferrus/<name>. If that has
// such a commit of the same tree and parent already, it is the one. The index and the branches of the person stay.
func (r *Repository) SaveCommit(ctx context.Context, c Commit, name string) (id string, err error) {
	draft, err := r.TempDir("restore-commit-*")
	if err != nil {
		return "", err
	}
	defer r.RemoveTemp(draft)
	tree, err := r.draftIndex(ctx, filepath.Join(draft, "index"), c)
	if err != nil {
		return "", err
	}
	if was, err := r.SavedCommit(ctx, name); err == nil && was != "" {
		out, _, err := r.UserCommand().Run(ctx, "log", "-1", "--format=%T %P", was)
		if err == nil && strings.TrimSpace(string(out)) == strings.TrimSpace(tree+" "+c.Parent) {
			return was, nil
		}
	}
	c.Hooks.Dir = filepath.Join(os.DevNull, "none")
	if id, err = r.commitTree(ctx, c, tree, c.Message); err != nil {
		return "", err
	}
	return id, r.RecordCommit(ctx, name, id)
}

// SavedCommit returns the commit that refs/ferrus/<name> has, "" for none.
func (r *Repository) SavedCommit(ctx context.Context, name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return r.resolve(ctx, RefPrefix+name)
}

// RecordCommit makes refs/ferrus/<name> have a commit of the repository.
func (r *Repository) RecordCommit(ctx context.Context, name, id string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return r.updateRefs(ctx, "option no-deref\nupdate "+RefPrefix+name+" "+id+"\n")
}

// draftIndex makes an index of the tree that is to be committed, and returns that tree. It knows the files on disk as the user's index does, so
// that no hook has to read all of them again.
func (r *Repository) draftIndex(ctx context.Context, index string, c Commit) (tree string, err error) {
	err = copyFile(r.index, index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	u := r.UserCommand()
	u.Env = append(u.Env, "GIT_INDEX_FILE="+index)
	args := []string{"read-tree", "-i", "-m", c.Tree}
	if err != nil {
		args = []string{"read-tree", c.Tree}
	}
	if _, _, err := u.Run(ctx, args...); err != nil {
		return "", err
	}
	if len(c.Keep) == 0 {
		return c.Tree, nil
	}
	u.Stdin = r.indexInfo(c.Keep)
	if _, _, err := u.Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return r.writeTree(ctx, index)
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// indexInfo is what git update-index --index-info reads to set these entries; one without a mode is removed. A file can take the place of a
// folder only when that is gone.
func (r *Repository) indexInfo(entries []TreeEntry) io.Reader {
	var gone, set strings.Builder
	for _, e := range entries {
		if e.Exists() {
			fmt.Fprintf(&set, "%s %s\t%s\x00", e.Mode, e.ID, e.Path)
		} else {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.nothing, e.Path)
		}
	}
	return strings.NewReader(gone.String() + set.String())
}

// writeTree is the tree of an index.
func (r *Repository) writeTree(ctx context.Context, index string) (string, error) {
	u := r.UserCommand()
	u.Env = append(u.Env, "GIT_INDEX_FILE="+index)
	out, _, err := u.Run(ctx, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// edited is the message after the hooks that come before a commit have run, in the file where git has it for them.
func (r *Repository) edited(ctx context.Context, message string, hook func(name string, args ...string) error) (string, error) {
	const name = "COMMIT_EDITMSG"
	root, err := rootfs.Open(r.gitDir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := hook("pre-commit"); err != nil {
		return "", err
	}
	if err := root.WriteFile(name, []byte(message), 0o644); err != nil {
		return "", err
	}
	file := filepath.Join(r.gitDir, name)
	if err := hook("prepare-commit-msg", file, "message"); err != nil {
		return "", err
	}
	if err := hook("commit-msg", file); err != nil {
		return "", err
	}
	text, err := root.ReadFile(name, maxMessage)
	if err != nil {
		return "", err
	}
	strip := git.Command{Dir: r.private, Stdin: strings.NewReader(string(text)), Env: git.Isolated}
	text, _, err = strip.Run(ctx, "stripspace")
	if err == nil && len(text) == 0 {
		err = errors.New("a hook left no message, and nothing was committed")
	}
	return string(text), err
}

// unstage makes the entries of committed files in the user's index those of the commit. What was staged stays.
func (r *Repository) unstage(ctx context.Context, deltas []Delta, staged git.Set) error {
	var set []TreeEntry
	for _, d := range deltas {
		if !staged[d.Path] {
			set = append(set, TreeEntry{d.New, d.Path})
		}
	}
	u := r.UserCommand()
	u.Stdin = r.indexInfo(set)
	_, _, err := u.Run(ctx, "update-index", "-z", "--index-info")
	return err
}

// Person returns the name and the address that the person commits with, "" where git knows none.
func (r *Repository) Person(ctx context.Context) string {
	out, err := git.Command{Dir: r.dir}.Own(ctx, io.Discard, "var", "GIT_COMMITTER_IDENT")
	name, _, ok := strings.Cut(string(out), ">")
	if err != nil || !ok {
		return ""
	}
	return name + ">"
}
