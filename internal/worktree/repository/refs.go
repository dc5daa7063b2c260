package repository

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// RefPrefix is where trees are saved in the user's repository.
const RefPrefix = "refs/ferrus/"

// Refs lists the names of kept trees, without refs/ferrus/: prefix itself and what is below it, all where it is "". The
// names are in the order of the numbers in them: t/2 stands before t/10.
func (r *Repository) Refs(ctx context.Context, prefix string) ([]string, error) {
	all, err := r.keptBelow(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list the files saved as %q: %w", prefix, err)
	}
	var names []string
	for _, k := range all {
		names = append(names, k.name)
	}
	return names, nil
}

// CopyRefs saves under to what is saved under from, each under the same name but for the prefix: from/3 as to/3 too. keep
// says of a whole name, such as from/3, whether it is wanted; what is below to is not asked about. CopyRefs says how many
// they were. All of them are saved or, after an error, none. What a name held before is let go, and what is shared is on
// disk, as with [Repository.SaveRef]. The error is [git.ErrNoGit] without git.
func (r *Repository) CopyRefs(ctx context.Context, from, to string, keep func(name string) bool) (n int, err error) {
	n, err = r.share(ctx, strings.TrimSuffix(from, "/"), strings.TrimSuffix(to, "/"), keep)
	if err != nil {
		return 0, fmt.Errorf("save what %q has as %q too: %w", from, to, err)
	}
	return n, nil
}

func (r *Repository) share(ctx context.Context, from, to string, keep func(name string) bool) (int, error) {
	for _, name := range []string{from, to} {
		if err := CheckName(name); err != nil {
			return 0, err
		}
	}
	all, err := r.keptBelow(ctx, from)
	if err != nil {
		return 0, err
	}
	var orders strings.Builder
	var made []string
	for _, k := range all {
		if isBelow(to, k.name) || !keep(k.name) {
			continue
		}
		as := kept{name: to + strings.TrimPrefix(k.name, from), commit: k.commit}
		orders.WriteString(as.orders(k))
		made = append(made, RefPrefix+as.name)
	}
	if len(made) == 0 {
		return 0, nil
	}
	if err := r.updateRefs(ctx, orders.String()); err != nil {
		return 0, err
	}
	return len(made), r.syncRefs(made...)
}

// isBelow reports whether name is prefix or below it.
func isBelow(prefix, name string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// DeleteRefs lets go of the trees that are saved under prefix and below it, and says how many they were. Git deletes what
// nothing else holds when it next collects garbage. A prefix of "" is refused: one task forgets its own.
func (r *Repository) DeleteRefs(ctx context.Context, prefix string) (n int, err error) {
	var all []kept
	if strings.Trim(prefix, "/") == "" {
		err = errors.New("it would be everything; name a task")
	} else {
		all, err = r.keptBelow(ctx, prefix)
	}
	if err == nil && len(all) > 0 {
		var orders strings.Builder
		for _, k := range all {
			fmt.Fprintf(&orders, "option no-deref\ndelete %s%s\n", RefPrefix, k.name)
		}
		err = r.updateRefs(ctx, orders.String())
	}
	if err != nil {
		return 0, fmt.Errorf("delete the files saved as %q: %w", prefix, err)
	}
	return len(all), nil
}

// keptBelow lists what is saved under prefix and below it, with no trees.
func (r *Repository) keptBelow(ctx context.Context, prefix string) ([]kept, error) {
	if !r.Git() {
		return nil, git.ErrNoGit
	}
	pattern := strings.TrimSuffix(RefPrefix+prefix, "/")
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		if err := CheckName(prefix); err != nil {
			return nil, err
		}
	}
	out, _, err := r.UserCommand().Run(ctx, "for-each-ref", "--sort=version:refname", "--format=%(objectname) %(refname)", pattern)
	var all []kept
	for line := range strings.Lines(string(out)) {
		commit, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, kept{name: strings.TrimPrefix(ref, RefPrefix), commit: commit})
	}
	return all, err
}

// updateRefs carries out orders for git update-ref, all or none.
func (r *Repository) updateRefs(ctx context.Context, orders string) error {
	c := r.UserCommand()
	c.Config = []string{"core.fsync=committed", "core.filesRefLockTimeout=5000", "core.logAllRefUpdates=false"}
	c.Stdin = strings.NewReader(orders)
	_, _, err := c.Run(ctx, "update-ref", "--stdin")
	return err
}

// CheckName says why git would not take a name below a folder of refs: the rules of git check-ref-format.
func CheckName(name string) error {
	why := ""
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			why = "has an empty part"
		case part[0] == '.':
			why = "has a part that begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			why = "has a part that ends in .lock"
		}
	}
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	switch {
	case why != "":
	case strings.Contains(name, ".."):
		why = "holds two dots"
	case strings.Contains(name, "@{"):
		why = "holds @{"
	case strings.HasSuffix(name, "."):
		why = "ends in a dot"
	case strings.ContainsFunc(name, bad):
		why = `holds a blank or one of ~^:?*[\`
	default:
		return nil
	}
	return fmt.Errorf("the name %q %s, which git does not take; use letters, digits, - and /", name, why)
}
