//go:build unix

package hq

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/slot"
	"github.com/ferrus-go/ferrus/internal/trust/trusttest"
)

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	slot.Shim(nil)
	if os.Getenv(part) == "hold" {
		os.Exit(holdOn(os.Args[1]))
	}
	// A program with the race detector sleeps a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(trusttest.Main(m.Run))
}
