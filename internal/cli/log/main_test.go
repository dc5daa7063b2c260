package log

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) { os.Exit(kit.Main(m.Run)) }
