package checkrun_test

import (
	"flag"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

var _ = flag.Bool("full", false, "nothing more than is always tried")

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }
