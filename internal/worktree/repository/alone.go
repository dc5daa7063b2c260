package repository

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// alone calls do while no other process is at work on the branch, nor on any other linked work tree.
func (r *Repository) alone(ctx context.Context, branch string, do func() error) error {
	if err := r.Ready(ctx, branch); err != nil {
		return err
	}
	lock, err := filelock.Take(filepath.Join(r.private, "linked-"+strings.ReplaceAll(branch, "/", "+")+".lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return errors.New("another process is at it; try again when it is done")
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	turn, err := r.turn(ctx)
	if err != nil {
		return err
	}
	defer turn.Close()
	return do()
}

// turn waits until no other branch is being made or removed. Git does not lock what it knows of linked work trees: it
// looks at all of them before it makes one, dies of one that is half made, and repairs one that is half removed.
func (r *Repository) turn(ctx context.Context) (*filelock.Lock, error) {
	lock, err := filelock.Acquire(ctx, filepath.Join(r.private, "linked.lock"))
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("wait for another work tree to be made: %w", err)
	}
	return lock, err
}
