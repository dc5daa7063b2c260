package rules

import (
	"flag"
	"os"
	"testing"
)

// The rigs pass -full to every test program; these tests are as long as they are.
var _ = flag.Bool("full", false, "has no effect here")

func TestMain(m *testing.M) { os.Exit(m.Run()) }
