//go:build linux

package nodes

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// part is the variable that makes this program another one: "ferrus" or "agent".
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	sandbox.Stage()
	checks.Helper()
	process.Shim(run.Hold)
	switch os.Getenv(part) {
	case "agent":
		os.Exit(agent(os.Args[1:]))
	case "ferrus":
		root.Main()
		os.Exit(0)
	}
	os.Exit(kit.Main(func() int { return postgrestest.Main(m.Run) }))
}
