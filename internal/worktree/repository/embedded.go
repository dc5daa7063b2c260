package repository

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// maxRef bounds the files that say where a repository's HEAD is.
const maxRef = 4 << 10

// EmbeddedHead is the commit that an embedded repository has checked out, "" if it has none.
func (r *Repository) EmbeddedHead(ctx context.Context, repo string) string {
	dir, common := gitDirs(r.Path(repo))
	return r.commitAt(ctx, dir, common)
}

// HeadCommit is the commit that HEAD leads to, "" if there is none. It starts no process where refs are files.
func (r *Repository) HeadCommit(ctx context.Context) string {
	return r.commitAt(ctx, r.gitDir, r.common)
}

// commitAt is the commit that the HEAD of a git directory leads to, "" if it has none. Its files are read and git is not
// asked, for its configuration is none of ours; only of one that keeps its refs in another way than in files.
func (r *Repository) commitAt(ctx context.Context, dir, common string) string {
	if filestat.Exists(filepath.Join(common, "reftable")) {
		c := git.Command{Dir: r.dir, Env: append([]string{"GIT_DIR=" + dir, "GIT_COMMON_DIR=" + common}, git.Isolated...)}
		out, _, _ := c.Run(ctx, "rev-parse", "-q", "--verify", "HEAD")
		return strings.TrimSpace(string(out))
	}
	at := "HEAD"
	for range 6 { // as many as git follows
		text, err := rootfs.ReadRegular(filepath.Join(dir, filepath.FromSlash(at)), maxRef)
		if err != nil && dir != common {
			text, err = rootfs.ReadRegular(filepath.Join(common, filepath.FromSlash(at)), maxRef)
		}
		if err != nil {
			return packed(common, at)
		}
		line := strings.TrimSpace(string(text))
		ref, ok := strings.CutPrefix(line, "ref: ")
		switch {
		case !ok && IsID(line):
			return line
		case !ok || !strings.HasPrefix(ref, "refs/") || !filepath.IsLocal(ref):
			return ""
		}
		at = ref
	}
	return ""
}

// gitDirs are the git directory of the repository whose files are in a folder, and the one that it shares with others.
func gitDirs(folder string) (dir, common string) {
	dir = filepath.Join(folder, ".git")
	if text, err := rootfs.ReadRegular(dir, maxRef); err == nil {
		to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		dir = joined(folder, to)
	}
	common = dir
	if text, err := rootfs.ReadRegular(filepath.Join(dir, "commondir"), maxRef); err == nil {
		common = joined(dir, strings.TrimSpace(string(text)))
	}
	return dir, common
}

// maxPackedRefs bounds the list of refs that a repository keeps in one file.
const maxPackedRefs = 256 << 20

// packed is what packed-refs has for a ref.
func packed(common, ref string) string {
	text, err := rootfs.ReadRegular(filepath.Join(common, "packed-refs"), maxPackedRefs)
	if err != nil {
		return ""
	}
	found := regexp.MustCompile(`(?m)^([0-9a-f]{40}|[0-9a-f]{64}) ` + regexp.QuoteMeta(ref) + `$`).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// EmbeddedChanges lists the files of an embedded repository that are not as in its commit. The repository's own configuration is
// not used. Without filters, a tracked file that a filter converts is not looked at.
func (r *Repository) EmbeddedChanges(ctx context.Context, repo, commit string, filters bool) ([]string, error) {
	dir, err := r.TempDir("restore-")
	if err != nil {
		return nil, err
	}
	defer r.RemoveTemp(dir)
	_, common := gitDirs(r.Path(repo))
	c := r.own(r.store(), filepath.Join(common, "objects"))
	c.Dir = r.Path(repo)
	c.Env = append(c.Env, "GIT_WORK_TREE="+c.Dir, "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	if _, _, err := c.Run(ctx, "read-tree", commit); err != nil {
		return nil, err
	}
	if filters {
		c = r.Filtering(c)
	}
	out, _, err := c.Run(ctx, "ls-files", "-z", "-t", "-m", "-o", "--exclude-standard")
	var changed, tracked []string
	for _, line := range slices.Compact(git.Split(out)) { // "? path" where it is not tracked
		mark, name, _ := strings.Cut(line, " ")
		changed = append(changed, name)
		if mark != "?" && filestat.Exists(filepath.Join(c.Dir, filepath.FromSlash(name))) {
			tracked = append(tracked, name)
		}
	}
	changed = slices.Compact(changed)
	if err != nil || filters {
		return changed, err
	}
	converted, err := r.Converted(ctx, c, tracked)
	return slices.DeleteFunc(changed, func(name string) bool { return converted[name] != "" }), err
}

// Converted has for those of the files whose content a frozen filter makes, by the attributes that c finds, the name of the filter.
func (r *Repository) Converted(ctx context.Context, c git.Command, names []string) (map[string]string, error) {
	drivers, _, err := r.Filters(ctx)
	if err != nil || len(drivers) == 0 || len(names) == 0 {
		return nil, err
	}
	c.Stdin = git.List(names)
	out, _, err := c.Run(ctx, "check-attr", "-z", "--stdin", "filter")
	found := map[string]string{}
	for f := git.Split(out); len(f) >= 3; f = f[3:] { // path, "filter", driver
		if slices.Contains(drivers, f[2]) {
			found[f[0]] = f[2]
		}
	}
	return found, err
}
