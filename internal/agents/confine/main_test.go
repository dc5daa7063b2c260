package confine_test

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestMain(m *testing.M) {
	confine.Become()
	become()
	os.Exit(enginetest.Main(func() int { return worktreetest.Main(m, nil) }))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
