package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

const (
	maxUnseen  = 12   // lines
	maxNested  = 8    // repositories that are looked into
	maxIgnored = 2000 // ignored paths whose rules are looked at
)

// Unseen says, a line each, what a patch from base to now does not show although it may matter: files that are ignored by
// a rule which base does not have, repositories in the work tree with their files, files that are said to be off the
// disk, files that are too large, and settings of git that have changed since [Tree.Freeze]. It is nil without git. The
// lines name paths; they are printable, and at most a dozen. Without filters it starts no program that git's configuration
// names: files in repositories of the work tree that a filter converts are then not compared with their commits.
func (t *Tree) Unseen(ctx context.Context, base, now string, filters bool) ([]string, error) {
	if !t.Git() {
		return nil, nil
	}
	lines, err := t.unseen(ctx, base, now, filters)
	if err != nil {
		return nil, fmt.Errorf("what a patch of %s does not show: %w", t.Top(), err)
	}
	if n := len(lines) - maxUnseen; n > 0 {
		lines = append(lines[:maxUnseen], fmt.Sprintf("… and %d more", n))
	}
	return lines, nil
}

func (t *Tree) unseen(ctx context.Context, base, now string, filters bool) ([]string, error) {
	ids, err := t.ends(ctx, base, now)
	if err != nil {
		return nil, err
	}
	l, err := t.list(ctx)
	if err != nil {
		return nil, err
	}
	var drift, ignored, nested, huge []string
	err = git.Together(func() (err error) {
		drift, err = t.Drift(ctx)
		return err
	}, func() (err error) {
		ignored, err = t.newlyIgnored(ctx, ids[0])
		return err
	}, func() (err error) {
		nested, err = t.nested(ctx, l, ids, filters)
		return err
	}, func() (err error) {
		huge, err = t.huge(ctx, l, ids)
		return err
	})
	lines := slices.Concat(drift, ignored, nested)
	if len(huge) > 0 {
		lines = append(lines, fmt.Sprintf("the patch names %s of more than %d MiB, and does not show what they hold: %s", count(len(huge), "file"), MaxShown>>20, some(huge)))
	}
	if n := len(l.hidden); n > 0 {
		lines = append(lines, fmt.Sprintf("not on disk, and counted as unchanged because of git's skip-worktree mark: %s: %s", count(n, "file"), some(l.hidden)))
	}
	for _, dir := range t.left {
		if _, ours := git.Below(t.Path(dir), t.Private()); !ours && git.Resolve(t.Private()) != t.Path(dir) && filestat.Exists(t.Path(dir)) {
			lines = append(lines, "files in "+git.Printable(dir)+" are in no patch: ferrus uses the folder")
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
		shown = append(shown, git.Printable(p))
	}
	if n := len(paths) - most; n > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(shown, ", ")
}

// newlyIgnored names what git ignores by rules in the work tree that the tree base does not have.
func (t *Tree) newlyIgnored(ctx context.Context, base string) ([]string, error) {
	out, _, err := t.IndexCommand().Run(ctx, "ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(git.Split(out), func(name string) bool { return t.IsOwn(strings.TrimSuffix(name, "/")) })
	if len(paths) == 0 {
		return nil, nil
	}
	var lines []string
	if n := len(paths) - maxIgnored; n > 0 {
		lines = append(lines, fmt.Sprintf("%d ignored paths are too many to compare their rules with those of before", len(paths)))
		paths = paths[:maxIgnored]
	}
	c := t.IndexCommand()
	c.Stdin = git.List(paths)
	out, _, err = c.Run(ctx, "check-ignore", "-z", "-v", "--no-index", "--stdin")
	if err != nil && !git.SaidNo(err) {
		return nil, err
	}
	by := map[string][]string{} // paths, by the rule
	var order []string
	had := map[string]string{} // rule files of base
	for f := git.Split(out); len(f) >= 4; f = f[4:] {
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
		rule := fmt.Sprintf("%s:%s", git.Printable(source), line)
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
	out, _, err := t.Command().Run(ctx, "ls-tree", "-z", "--full-tree", tree, "--", name)
	if err != nil || len(out) == 0 {
		return "", err
	}
	of := strings.Fields(string(out))
	if len(of) < 3 || of[1] != "blob" {
		return "", nil
	}
	text, _, err := t.Command().Run(ctx, "cat-file", "blob", of[2])
	return string(text), err
}

// nested names repositories in the work tree: of them a patch has the commit at most.
func (t *Tree) nested(ctx context.Context, l *listing, ids [2]string, filters bool) ([]string, error) {
	var lines []string
	for _, repo := range l.empty {
		lines = append(lines, "the repository in "+git.Printable(repo)+" has no commit: its files do not count, and are in no patch")
	}
	if !slices.ContainsFunc(l.files, func(f file) bool { return f.IsLink() }) {
		return lines, nil
	}
	all, err := t.Deltas(ctx, ids[0], ids[1])
	if err != nil {
		return nil, err
	}
	moved := git.Set{}
	for _, d := range all {
		if d.New.IsLink() {
			moved.Add(d.Path)
		}
	}
	looked := 0
	for _, f := range l.files {
		if f.Mode != repository.ModeLink || !filestat.Exists(filepath.Join(t.Path(f.path), ".git")) {
			continue
		}
		if moved[f.path] {
			lines = append(lines, fmt.Sprintf("the repository in %s is at another commit, %.12s; its files are in no patch", git.Printable(f.path), f.ID))
		}
		if looked++; looked > maxNested {
			continue
		}
		switch dirty, err := t.EmbeddedChanges(ctx, f.path, f.ID, filters); {
		case err != nil:
			lines = append(lines, "the repository in "+git.Printable(f.path)+" cannot be compared with its commit: its files are in no patch")
		case len(dirty) > 0:
			lines = append(lines, fmt.Sprintf("the repository in %s differs from its commit in %s, in no patch: %s", git.Printable(f.path), count(len(dirty), "file"), some(dirty)))
		}
	}
	if n := looked - maxNested; n > 0 {
		lines = append(lines, fmt.Sprintf("repositories in the work tree that were not compared with their commits: %d more", n))
	}
	return lines, nil
}
