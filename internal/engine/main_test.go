package engine

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/test/kit"
)

func TestMain(m *testing.M) {
	checks.Helper()
	os.Exit(kit.Main(func() int { return kit.Scratch(&scratch, m.Run) }))
}

// scratch is a folder of all tests, for what is made once and copied.
var scratch string

// most is how much of something is tried, in the usual form and with -full.
func most(usual, far int) int {
	if *full {
		return far
	}
	return usual
}
