package log

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }
