package delegate_test

import (
	"flag"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

func TestMain(m *testing.M) {
	enginetest.Full = flag.Bool("full", false, "many more walks: some minutes")
	os.Exit(enginetest.Main(m.Run))
}
