package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// atOnce is how many refs one push deletes: their names are arguments.
const atOnce = 100

// List returns the refs of a task that the remote has; with "" those of the project.
func (r *Remote) List(ctx context.Context, task string) ([]Ref, error) {
	err := r.repo.PrepareRemote(ctx)
	var all []Ref
	if err == nil {
		all, err = r.list(ctx, task)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s* on %s: %w", r.project, r.Address(), err)
	}
	return all, nil
}

// Sweep deletes the refs of the project that keep does not want, and returns how many they were. keep wants a commit that the newest
// journal line of its task names, of whatever epoch: a session that took the task over needs it until its own first push is
// in the journal. It does not want what ended tasks and old epochs have left. A ref that somebody changes at the same time
// stays, and is no error.
//
// Every push gets a list of all refs, so keep few.
func (r *Remote) Sweep(ctx context.Context, keep func(Ref) bool) (n int, err error) {
	all, err := r.List(ctx, "")
	if err != nil {
		return 0, err
	}
	var changes []change
	for _, at := range all {
		if !keep(at) {
			changes = append(changes, change{r.name(at), at.Commit, ""})
		}
	}
	for err == nil && len(changes) > 0 {
		some := changes[:min(atOnce, len(changes))]
		changes = changes[len(some):]
		var refused []refusal
		refused, err = r.push(ctx, false, some...)
		if err == nil {
			n += len(some) - len(refused)
		}
		for _, f := range refused {
			if !f.raced() {
				err = errors.Join(err, &f.RefusedError)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("sweep %s* on %s: %w", r.project, redact(r.at.push), err)
	}
	return n, err
}

// Probe pushes and deletes a ref <namespace>/probe/<random> with an empty tree. The error is a [*RefusedError] where the host
// does not take refs of the namespace, or does not delete them, or wraps [ErrUnreachable] or [ErrAccess].
func (r *Remote) Probe(ctx context.Context) error {
	ref := r.space + "/probe/" + strings.ToLower(rand.Text())
	err := r.repo.PrepareRemote(ctx)
	commit := ""
	if err == nil {
		commit, err = r.emptyCommit()
	}
	for _, c := range []change{{ref, "", commit}, {ref, commit, ""}} {
		if err != nil {
			break
		}
		var refused []refusal
		if refused, err = r.push(ctx, false, c); len(refused) > 0 {
			err = &refused[0].RefusedError
		}
	}
	if err != nil {
		return fmt.Errorf("probe %s: %w", redact(r.at.push), err)
	}
	return nil
}

// emptyCommit writes a commit without files.
func (r *Remote) emptyCommit() (string, error) {
	tree := r.repo.ID("tree", nil)
	if err := r.repo.WriteObject("tree", tree, nil); err != nil {
		return "", err
	}
	return r.repo.WriteCommit(tree)
}
