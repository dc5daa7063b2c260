package doctor

import (
	"flag"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/test/kit"
)

var full = flag.Bool("full", false, "try every pair of copies")

func TestMain(m *testing.M) { os.Exit(kit.Main(m.Run)) }
