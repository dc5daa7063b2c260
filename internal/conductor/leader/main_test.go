package leader

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

func TestMain(m *testing.M) {
	os.Exit(kit.Main(func() int { return postgrestest.Main(m.Run) }))
}
