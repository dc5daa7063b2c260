//go:build unix

package conductor

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	process.Shim(nil)
	if os.Getenv(part) == "hold" {
		os.Exit(holdOn(os.Args[1]))
	}
	os.Exit(enginetest.Main(m.Run))
}
