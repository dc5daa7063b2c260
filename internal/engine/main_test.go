package engine

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
)

func TestMain(m *testing.M) {
	checks.Helper()
	// A program with the race detector sleeps a second before it exits, and the helper inherits this.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// No configuration of whoever runs the tests.
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Exit(m.Run())
}
