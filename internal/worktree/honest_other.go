//go:build !linux

package worktree

// honestTimes is false: it is not known here, and content is compared each time.
func honestTimes(string) bool { return false }
