package remote

import (
	"context"
	"fmt"
)

// Fetch brings the commit of a ref, which a journal line names, into the private object store, and returns its tree and base.
// It asks for the commit by its id. So no other ref is listed or fetched, and the ref may have moved on since the line was
// written, as long as the remote still has the commit. Where the repository lacks base, which the caller knows from the
// journal, Fetch brings that commit too, without its history.
//
// The commit is that very commit and one that Push makes, its content was compared with its id, and all of it is on disk when
// Fetch returns. Files are compared when they are laid out. The error wraps [ErrMissing] where the remote does not
// have the commit: the holder calls [Remote.Restore]. It wraps [ErrUnreachable] or [ErrAccess] as that of [Remote.Push].
func (r *Remote) Fetch(ctx context.Context, at Ref, base string) (Snapshot, error) {
	s := Snapshot{Commit: at.Commit}
	err := r.check(at)
	if err == nil {
		err = checkID(at.Commit)
	}
	if err == nil && base != "" {
		err = checkID(base)
	}
	if err == nil {
		err = r.repo.PrepareRemote(ctx)
	}
	if err == nil {
		err = r.fetch(ctx, at.Commit, base)
	}
	if err == nil {
		s.Tree, s.Base, err = r.repo.ReadCommit(ctx, at.Commit)
	}
	if err == nil && s.Base != base {
		err = fmt.Errorf("its base is %.12q and not %.12q", s.Base, base)
	}
	if err == nil {
		err = r.repo.SyncFetched()
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("fetch %.12s of %s from %s: %w", at.Commit, r.name(at), r.Address(), err)
	}
	return s, nil
}

func (r *Remote) fetch(ctx context.Context, commit, base string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-write-commit-graph", "--no-recurse-submodules",
		"--no-prune"}
	if base != "" {
		lost, err := r.repo.Missing(ctx, []string{base})
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			args = append(args, "--depth=2") // the commit and its base, on which the next push builds
		} else {
			args = append(args, "--negotiation-tip="+base)
		}
	}
	_, _, err := r.run(ctx, []string{"fetch.negotiationAlgorithm=consecutive"}, append(args, "--", r.at.fetch, commit)...)
	return err
}
