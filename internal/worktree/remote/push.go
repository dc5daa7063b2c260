package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Push sends the snapshot of a tree to the ref of a task and an epoch. at.Commit is the commit that the ref has, as the caller
// knows it from the journal; "" where this session has not pushed yet. It returns the ref as it is then; the journal line
// names its commit. The tree is one that package worktree has made, base the base commit of the task, "" where there is
// none. Both are in the repository or in the private object store.
//
// Push may be killed at any moment and called again. After an error the ref is as it was, or has the new commit if the answer of
// the remote was lost. The errors are a [*LaterError], a [*StaleError], a [*RefusedError], or wrap [ErrUnreachable] or
// [ErrAccess].
func (r *Remote) Push(ctx context.Context, at Ref, tree, base string) (Ref, error) {
	to := at
	err := r.check(at)
	if err == nil {
		err = r.repo.PrepareRemote(ctx)
	}
	if err == nil {
		to.Commit, err = r.commit(ctx, tree, base)
	}
	if err == nil {
		err = r.publish(ctx, at, to.Commit)
	}
	if err != nil {
		return at, fmt.Errorf("push %s to %s: %w", r.name(at), redact(r.at.push), err)
	}
	return to, nil
}

// commit writes the commit of a tree into the private store.
func (r *Remote) commit(ctx context.Context, tree, base string) (string, error) {
	parents := []string{base}
	if base == "" {
		parents = nil
	}
	lost, err := r.repo.Missing(ctx, append([]string{tree}, parents...))
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the object %.12q is not in the repository", lost[0])
	}
	if err != nil {
		return "", err
	}
	return r.repo.WriteCommit(tree, parents...)
}

// Restore pushes the commit of a ref again where the remote lost the ref: somebody's git push --mirror deletes refs that it
// does not have. It is no error if the ref is there. The errors are those of [Remote.Push].
func (r *Remote) Restore(ctx context.Context, at Ref) error {
	err := r.check(at)
	if err == nil {
		err = checkID(at.Commit)
	}
	if err == nil {
		err = r.repo.PrepareRemote(ctx)
	}
	if err == nil {
		_, _, err = r.repo.ReadCommit(ctx, at.Commit)
	}
	if err == nil {
		err = r.publish(ctx, Ref{Task: at.Task, Epoch: at.Epoch}, at.Commit)
	}
	if err != nil {
		return fmt.Errorf("restore %s on %s: %w", r.name(at), redact(r.at.push), err)
	}
	return nil
}

// tries is how often a push is tried that meets the lock of another one on the host.
const tries = 5

// publish changes a ref from one commit to another. The look comes first for its errors; the lease of the push decides.
func (r *Remote) publish(ctx context.Context, from Ref, commit string) error {
	for try := 1; ; try++ {
		all, err := r.list(ctx, from.Task)
		if err != nil {
			return err
		}
		have := ""
		for _, at := range all {
			if at.Epoch > from.Epoch {
				return &LaterError{r.name(from), at.Epoch}
			}
			if at.Epoch == from.Epoch {
				have = at.Commit
			}
		}
		switch have {
		case commit:
			return nil
		case from.Commit:
		default:
			return &StaleError{r.name(from), from.Commit, have}
		}
		known, err := r.known(ctx, all)
		if err != nil {
			return err
		}
		refused, err := r.push(ctx, !known, change{r.name(from), from.Commit, commit})
		if err != nil || len(refused) == 0 {
			return err
		}
		if !refused[0].raced() || try == tries {
			return &refused[0].RefusedError
		}
	}
}

// known reports whether the repository has one of the commits. Then a push sends only what is not below that. Otherwise git asks
// the remote which commits both have: its branches may have moved on to commits that are not here.
func (r *Remote) known(ctx context.Context, refs []Ref) (bool, error) {
	var ids []string
	for _, at := range refs {
		ids = append(ids, at.Commit)
	}
	lost, err := r.repo.Missing(ctx, ids)
	return len(lost) < len(ids), err
}

// A change moves a ref by its whole name from one commit to another; "" stands for none.
type change struct{ ref, from, to string }

// A refusal is a ref that was not changed.
type refusal struct {
	RefusedError
	why string // what git gives as the reason
}

// raced reports whether the ref was changed by another push at the same time.
func (f refusal) raced() bool { return raced().MatchString(f.why) }

var raced = safetext.Lazily(`stale info|failed to update ref|cannot lock ref|already exists|incorrect old value`)

// push changes refs, each if it has the commit that is expected. It returns those that were refused.
func (r *Remote) push(ctx context.Context, negotiate bool, changes ...change) ([]refusal, error) {
	args := []string{"push", "--porcelain", "--thin", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--no-force-if-includes"}
	var specs []string
	for _, c := range changes {
		args = append(args, "--force-with-lease="+c.ref+":"+c.from)
		specs = append(specs, c.to+":"+c.ref)
	}
	args = append(append(args, "--", r.at.push), specs...)
	out, stderr, err := r.run(ctx, []string{fmt.Sprintf("push.negotiate=%v", negotiate)}, args...)
	if err != nil {
		return nil, err
	}
	var refused []refusal
	for line := range strings.Lines(out) { // "!\tfrom:to\t[rejected] (stale info)"
		f := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(f) != 3 || f[0] != "!" {
			continue
		}
		if strings.HasPrefix(f[2], "[remote failure]") {
			return nil, fmt.Errorf("%w: %s", ErrUnreachable, f[2])
		}
		_, ref, _ := strings.Cut(f[1], ":")
		refused = append(refused, refusal{RefusedError{ref, f[2] + hostSaid(stderr)}, f[2]})
	}
	return refused, nil
}

// hostSaid is the first line that the host itself printed.
func hostSaid(stderr string) string {
	for line := range strings.Lines(stderr) {
		if said, ok := strings.CutPrefix(line, "remote: "); ok {
			return ": " + safetext.Line(said)
		}
	}
	return ""
}
