//go:build !linux && !darwin

package restore_test

import "github.com/ferrus-go/ferrus/internal/worktree/restore"

func edited(string, *restore.WorkTree) func() { return func() {} }
