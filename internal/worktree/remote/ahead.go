package remote

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Ahead says what a first push sends beside the work tree: how many commits lead to base that the remote did not have when the
// repository last fetched its branches, and how many bytes they take in the object store. It connects to nothing. For a
// remote that is a URL the repository knows no branches: there it is the whole history.
func (r *Remote) Ahead(ctx context.Context, base string) (commits int, bytes int64, err error) {
	commits, bytes, err = r.ahead(ctx, base)
	if err != nil {
		err = fmt.Errorf("compare %.12s with %s: %w", base, r.Address(), err)
	}
	return commits, bytes, err
}

func (r *Remote) ahead(ctx context.Context, base string) (commits int, bytes int64, err error) {
	if err := checkID(base); err != nil {
		return 0, 0, err
	}
	if err := r.repo.PrepareRemote(ctx); err != nil {
		return 0, 0, err
	}
	revs := base + "\n"
	if r.at.remote != "" {
		out, _, err := r.repo.UserCommand().Run(ctx, "for-each-ref", "--format=^%(objectname)", "refs/remotes/"+r.at.remote+"/")
		if err != nil {
			return 0, 0, err
		}
		revs += string(out)
	}
	count := func(options ...string) (int64, error) {
		c := r.repo.Command()
		c.Stdin = strings.NewReader(revs)
		out, _, err := c.Run(ctx, append([]string{"rev-list", "--stdin"}, options...)...)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	}
	n, err := count("--count")
	if err == nil {
		bytes, err = count("--objects", "--disk-usage")
	}
	return int(n), bytes, err
}
