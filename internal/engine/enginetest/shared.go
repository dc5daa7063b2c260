package enginetest

import (
	"testing"

	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// InFiles is [sharedtest.InFiles].
func InFiles(t testing.TB, why string) {
	t.Helper()
	sharedtest.InFiles(t, why)
}
