package status

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/test/kit"
	"github.com/ferrus-go/ferrus/internal/test/sharedtest"
)

func TestMain(m *testing.M) {
	checks.Helper()
	os.Exit(kit.Main(func() int { return sharedtest.Main(m.Run) }))
}
