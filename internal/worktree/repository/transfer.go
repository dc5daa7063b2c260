package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// packFrom is from how many objects on they come as a pack, as git's own fetch does it. Fewer come one by one: many
// small packs make every git command slow.
const packFrom = 100

// A transfer is objects that the user's store got from the private one, where they still are too.
type transfer struct {
	ids  []string
	pack string // the pack they came in, "" if one by one
}

// transferObjects gives the user's store what it lacks of these objects. What an unfinished call leaves behind is git's garbage.
func (r *Repository) transferObjects(ctx context.Context, ids []string) (transfer, error) {
	var l transfer
	var packed []string // or nowhere
	now := time.Now()
	for _, id := range ids {
		switch {
		case filestat.Exists(loose(r.store(), id)):
			l.ids = append(l.ids, id)
		case os.Chtimes(loose(r.objects, id), now, now) == nil:
			// It is there, and young again: a git gc that has begun without our ref passes over the young.
		default:
			packed = append(packed, id)
		}
	}
	lacking, err := r.lacking(ctx, r.own(r.objects), packed)
	if err != nil {
		return l, err
	}
	if lost, err := r.lacking(ctx, r.Command(), lacking); err != nil || len(lost) > 0 {
		if err == nil {
			err = fmt.Errorf("%w: %s", errLost, lost[0])
		}
		return l, err
	}
	if len(lacking) > 0 || len(l.ids) >= packFrom { // git itself packs the largest files, also in the private store
		l.pack, err = r.pack(ctx, append(lacking, l.ids...))
		return l, err
	}
	return l, r.place(ctx, l.ids)
}

// verifyTransfer is for when the ref is made. Until then a git gc could have deleted what was lent: if so it is lent once more,
// now that the ref protects it. Then the private copies go.
func (r *Repository) verifyTransfer(ctx context.Context, l transfer) error {
	if l.pack == "" {
		if err := r.place(ctx, l.ids); err != nil {
			return err
		}
	} else if !filestat.Exists(l.pack) {
		if lacking, err := r.lacking(ctx, r.own(r.objects), l.ids); err != nil || len(lacking) > 0 {
			if err == nil {
				_, err = r.pack(ctx, lacking)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, id := range l.ids {
		r.Changing()
		os.Remove(loose(r.store(), id))
	}
	return nil
}

// lacking lists which of the objects c does not see.
func (r *Repository) lacking(ctx context.Context, c git.Command, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, _, err := c.Run(ctx, "cat-file", "--batch-check=%(objectname)")
	var lacking []string
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(line, " missing\n"); ok {
			lacking = append(lacking, id)
		}
	}
	return lacking, err
}

// Missing lists which of the objects are in no store.
func (r *Repository) Missing(ctx context.Context, ids []string) ([]string, error) {
	return r.lacking(ctx, r.Command(), ids)
}

// pack writes objects into the user's store as one pack, and returns its path. Deltas are left to the next git gc.
func (r *Repository) pack(ctx context.Context, ids []string) (string, error) {
	dir := filepath.Join(r.objects, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	// The user's store first: git makes the pack there and renames it within.
	c := r.own(r.objects, r.store())
	c.Config = syncedByGit
	c.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, _, err := c.Run(ctx, "pack-objects", "-q", "--window=0", filepath.Join(dir, "pack"))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "pack-"+strings.TrimSpace(string(out))+".pack"), SyncFile(dir)
}

// place puts loose objects into the user's store, by a hard link where the system can. One that is there stays.
func (r *Repository) place(ctx context.Context, ids []string) error {
	var gone []string // another process lends the same, and is ahead of us
	for _, id := range ids {
		from, to := loose(r.store(), id), loose(r.objects, id)
		r.Changing()
		err := os.Link(from, to)
		if errors.Is(err, fs.ErrNotExist) && filestat.Exists(from) {
			if err = r.makeFan(filepath.Dir(to)); err == nil {
				err = os.Link(from, to)
			}
		}
		if err != nil && !filestat.Exists(to) {
			err = copyObject(from, to)
		}
		switch {
		case err == nil, filestat.Exists(to):
		case errors.Is(err, fs.ErrNotExist):
			gone = append(gone, id)
		default:
			return err
		}
	}
	lost, err := r.lacking(ctx, r.own(r.objects), gone)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%w: %s", errLost, lost[0])
	}
	return err
}

// makeFan makes a folder of objects as the store itself is, which others may share.
func (r *Repository) makeFan(dir string) error {
	info, err := os.Stat(r.objects)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, info.Mode()&(fs.ModePerm|fs.ModeSetgid))
}

// copyObject is for stores on two disks. The name of the copy is one that git prune clears away.
func copyObject(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.CreateTemp(filepath.Dir(to), "tmp_obj_*")
	if err != nil {
		return err
	}
	defer os.Remove(dst.Name())
	if err := errors.Join(dst.Chmod(0o444), atomicfile.Fill(dst, src)); err != nil {
		return err
	}
	return os.Rename(dst.Name(), to)
}
