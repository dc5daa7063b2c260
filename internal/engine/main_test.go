package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/test/kit"
)

func TestMain(m *testing.M) {
	checks.Helper()
	os.Exit(kit.Main(func() int { return run(m) }))
}

// scratch is a folder of all tests, for what is made once and copied.
var scratch string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ferrus-engine-")
	if err == nil {
		scratch, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return m.Run()
}

// most is how much of something is tried, in the usual form and with -full.
func most(usual, far int) int {
	if *full {
		return far
	}
	return usual
}
