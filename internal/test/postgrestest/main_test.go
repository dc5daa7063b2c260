package postgrestest

import (
	"flag"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/test/kit"
)

var _ = flag.Bool("full", false, "nothing more than is always tried")

func TestMain(m *testing.M) {
	os.Exit(kit.Main(func() int { return Main(m.Run) }))
}
