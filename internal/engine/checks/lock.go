package checks

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// lockWait is how long a helper waits for its predecessor, which may still be killing processes.
const lockWait = 5 * time.Second

// Running reports whether a helper holds the lock at path. A check that is recorded as running
// while its lock is free was abandoned: its server and its helper are dead.
func Running(path string) bool {
	held, _ := filelock.Held(path) // false when it is unknown
	return held
}

// hold takes the lock at path for the helper. The lock file is never removed: a second process
// could lock the old inode while a third locks the new one.
func hold(ctx context.Context, path string) (*filelock.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := filelock.Acquire(ctx, path)
	switch {
	case err == nil:
		return lock, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("another check still holds %s: wait for it to end, then run check again", path)
	}
	return nil, fmt.Errorf("take the check lock: %v: remove the file in its place, or make the directory writable", err)
}
