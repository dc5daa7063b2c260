package status

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/test/kit"
)

func TestMain(m *testing.M) {
	checks.Helper()
	os.Exit(kit.Main(m.Run))
}
