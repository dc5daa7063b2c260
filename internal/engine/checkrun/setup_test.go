package checkrun_test

import (
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// TestATrialSetsUpBesideTheTask: while the set-up of the task's checkout runs, a person can run the checks in another checkout.
func TestATrialSetsUpBesideTheTask(t *testing.T) {
	m := enginetest.Repository(t, "[checks]\ncommands = [\"cat installed\"]\nwhere = \"clean\"\n[branches]\nsetup = \"echo it >installed\"\n")
	e := m.Human().Engine()
	if err := os.MkdirAll(e.Place().Path("live"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Take(e.Place().Path("live/setup.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if res, _, err := e.Trial(t.Context()); err != nil || res.Status != checks.Passed {
		t.Errorf("%v, %+v", err, res)
	}
}
