package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

const (
	maxUnseen  = 12   // lines
	maxNested  = 8    // repositories that are looked into
	maxIgnored = 2000 // ignored paths whose rules are looked at
)

// Unseen says, a line each, what a patch from base to now does not show although it may matter: files that are ignored by
// a rule which base does not have, repositories in the work tree with their files, files that are said to be off the
// disk, and settings of git that have changed since [Tree.Freeze]. It is nil without git. The lines name paths; they are
// printable, and at most a dozen.
func (t *Tree) Unseen(ctx context.Context, base, now string) ([]string, error) {
	if !t.Git() {
		return nil, nil
	}
	lines, err := t.unseen(ctx, base, now)
	if err != nil {
		return nil, fmt.Errorf("what a patch of %s does not show: %w", t.dir, err)
	}
	if n := len(lines) - maxUnseen; n > 0 {
		lines = append(lines[:maxUnseen], fmt.Sprintf("… and %d more", n))
	}
	return lines, nil
}

func (t *Tree) unseen(ctx context.Context, base, now string) ([]string, error) {
	ids, err := t.ends(ctx, base, now)
	if err != nil {
		return nil, err
	}
	l, err := t.list(ctx)
	if err != nil {
		return nil, err
	}
	var drift, ignored, nested []string
	err = git.Together(func() (err error) {
		drift, err = t.drift(ctx)
		return err
	}, func() (err error) {
		ignored, err = t.newlyIgnored(ctx, ids[0])
		return err
	}, func() (err error) {
		nested, err = t.nested(ctx, l, ids)
		return err
	})
	lines := slices.Concat(drift, ignored, nested)
	if n := len(l.hidden); n > 0 {
		lines = append(lines, fmt.Sprintf("not on disk, and counted as unchanged because of git's skip-worktree mark: %s: %s", count(n, "file"), some(l.hidden)))
	}
	for _, dir := range t.left {
		if _, ours := git.Below(t.path(dir), t.private); !ours && git.Resolve(t.private) != t.path(dir) && filestat.Exists(t.path(dir)) {
			lines = append(lines, "files in "+gitpath.Printable(dir)+" are in no patch: the folder is kept for ferrus")
		}
	}
	return lines, err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// some is the first of a list of paths.
func some(paths []string) string {
	const most = 3
	var shown []string
	for _, p := range paths[:min(most, len(paths))] {
		shown = append(shown, gitpath.Printable(p))
	}
	if n := len(paths) - most; n > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(shown, ", ")
}

// drift names what has changed of git's settings since they were frozen.
func (t *Tree) drift(ctx context.Context) ([]string, error) {
	r, err := t.rulesNow(ctx)
	if err != nil {
		return nil, err
	}
	is, err := t.readRules(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	now, err := t.sums(is)
	for _, name := range ruleNames {
		if was, ok := r.frozen.Sums[name]; ok && was != now[name] {
			lines = append(lines, name+" changed since the task was created; the task keeps the filters and excludes of then")
		}
	}
	return lines, err
}

const (
	ofConfig     = "the repository's git configuration"
	ofExclude    = "info/exclude"
	ofAttributes = "info/attributes"
	ofExcludes   = "the file of core.excludesFile"
	ofBelow      = "the file of core.attributesFile"
)

var ruleNames = []string{ofConfig, ofExclude, ofAttributes, ofExcludes, ofBelow}

// sums are digests of what decides which files count and what they hold, beside the files of the work tree.
func (t *Tree) sums(r *rules) (map[string]string, error) {
	sums := map[string]string{ofConfig: r.local}
	for name, path := range map[string]string{ofExclude: filepath.Join(t.common, "info", "exclude"),
		ofAttributes: filepath.Join(t.common, "info", "attributes"), ofExcludes: r.path(excludesFile), ofBelow: r.path(attributesFile)} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.dir, path)
		}
		text, err := rootfs.ReadRegular(path, maxRules)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !filestat.Gone(err) {
			return nil, err
		}
		sums[name] = digest(string(text))
	}
	return sums, nil
}

func digest(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))
}

// newlyIgnored names what git ignores by rules in the work tree that the tree base does not have.
func (t *Tree) newlyIgnored(ctx context.Context, base string) ([]string, error) {
	out, _, err := t.onIndex().Run(ctx, "ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(gitpath.Split(out), func(name string) bool { return t.isOurs(strings.TrimSuffix(name, "/")) })
	if len(paths) == 0 {
		return nil, nil
	}
	var lines []string
	if n := len(paths) - maxIgnored; n > 0 {
		lines = append(lines, fmt.Sprintf("%d ignored paths are too many to compare their rules with those of before", len(paths)))
		paths = paths[:maxIgnored]
	}
	c := t.onIndex()
	c.Stdin = gitpath.List(paths)
	out, _, err = c.Run(ctx, "check-ignore", "-z", "-v", "--no-index", "--stdin")
	if err != nil && !git.SaidNo(err) {
		return nil, err
	}
	by := map[string][]string{} // paths, by the rule
	var order []string
	had := map[string]string{} // rule files of base
	for f := gitpath.Split(out); len(f) >= 4; f = f[4:] {
		source, line, pattern, name := f[0], f[1], f[2], f[3]
		if filepath.IsAbs(source) || source == "" {
			continue // frozen, or the person's
		}
		text, ok := had[source]
		if !ok {
			if text, err = t.blobAt(ctx, base, source); err != nil {
				return nil, err
			}
			had[source] = text
		}
		if slices.Contains(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), pattern) {
			continue
		}
		rule := fmt.Sprintf("%s:%s", gitpath.Printable(source), line)
		if by[rule] == nil {
			order = append(order, rule)
		}
		by[rule] = append(by[rule], name)
	}
	for _, rule := range order {
		lines = append(lines, "newly ignored, and in no patch, by "+rule+": "+some(by[rule]))
	}
	return lines, nil
}

// blobAt is the text of a file in a tree, "" where there is none.
func (t *Tree) blobAt(ctx context.Context, tree, name string) (string, error) {
	out, _, err := t.storing().Run(ctx, "ls-tree", "-z", "--full-tree", tree, "--", name)
	if err != nil || len(out) == 0 {
		return "", err
	}
	of := strings.Fields(string(out))
	if len(of) < 3 || of[1] != "blob" {
		return "", nil
	}
	text, _, err := t.storing().Run(ctx, "cat-file", "blob", of[2])
	return string(text), err
}

// nested names repositories in the work tree: of them a patch has the commit at most.
func (t *Tree) nested(ctx context.Context, l *listing, ids [2]string) ([]string, error) {
	var lines []string
	for _, repo := range l.empty {
		lines = append(lines, "the repository in "+gitpath.Printable(repo)+" has no commit: its files do not count, and are in no patch")
	}
	if !slices.ContainsFunc(l.files, func(f file) bool { return f.link() }) {
		return lines, nil
	}
	all, err := t.deltas(ctx, ids[0], ids[1])
	if err != nil {
		return nil, err
	}
	moved := gitpath.Set{}
	for _, d := range all {
		if d.new.link() {
			moved.Add(d.path)
		}
	}
	looked := 0
	for _, f := range l.files {
		if f.mode != modeLink || !filestat.Exists(filepath.Join(t.path(f.path), ".git")) {
			continue
		}
		if moved[f.path] {
			lines = append(lines, fmt.Sprintf("the repository in %s is at another commit, %.12s; its files are in no patch", gitpath.Printable(f.path), f.id))
		}
		if looked++; looked > maxNested {
			continue
		}
		switch dirty, err := t.dirty(ctx, f.path, f.id); {
		case err != nil:
			lines = append(lines, "the repository in "+gitpath.Printable(f.path)+" cannot be compared with its commit: its files are in no patch")
		case len(dirty) > 0:
			lines = append(lines, fmt.Sprintf("the repository in %s has %s that differ from its commit, in no patch: %s", gitpath.Printable(f.path), count(len(dirty), "file"), some(dirty)))
		}
	}
	if n := looked - maxNested; n > 0 {
		lines = append(lines, fmt.Sprintf("%d more repositories in the work tree were not compared with their commits", n))
	}
	return lines, nil
}

// dirty lists the files of an embedded repository that are not as in its commit. The repository's own configuration is
// not used.
func (t *Tree) dirty(ctx context.Context, repo, commit string) ([]string, error) {
	dir, err := t.tempDir("restore-")
	if err != nil {
		return nil, err
	}
	defer t.removeTemp(dir)
	_, common := gitDirs(t.path(repo))
	c := t.own(t.store(), filepath.Join(common, "objects"))
	c.Dir = t.path(repo)
	c.Env = append(c.Env, "GIT_WORK_TREE="+c.Dir, "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	if _, _, err := c.Run(ctx, "read-tree", commit); err != nil {
		return nil, err
	}
	out, _, err := c.Run(ctx, "ls-files", "-z", "-m", "-o", "--exclude-standard")
	return slices.Compact(gitpath.Split(out)), err
}
