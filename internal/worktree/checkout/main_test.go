package checkout_test

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestMain(m *testing.M) {
	os.Exit(worktreetest.Main(m, nil))
}

// Helpers of the tests, by short names.
var (
	runGit      = worktreetest.RunGit
	write       = worktreetest.Write
	remove      = worktreetest.Remove
	repository  = worktreetest.Repository
	committed   = worktreetest.Committed
	configure   = worktreetest.Configure
	open        = worktreetest.Open
	fingerprint = worktreetest.Fingerprint
)
