package run

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// TestEverybodySeesWhoConducts, and once he has left, or died, that nobody does.
func TestEverybodySeesWhoConducts(t *testing.T) {
	t.Parallel()
	at := At(t.TempDir(), config.Default().Pipelines)
	w := workflow.Workflow{Name: "one", Phases: []workflow.Phase{{ID: "all", Workers: []workflow.Worker{{Role: "worker", Final: true, Task: "Work"}}}}}
	f, err := at.Launch(w, "a topic", at.Settings(config.Default()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if pid := f.Leader(); pid != 0 {
			t.Errorf("nobody conducts, and %d does", pid)
		}
		leave, err := f.Lead()
		if err != nil {
			t.Fatal(err)
		}
		if pid := f.Leader(); pid != os.Getpid() {
			t.Errorf("%d conducts, not %d", pid, os.Getpid())
		}
		var led *LedError
		if _, err := f.Lead(); !errors.As(err, &led) || led.Pid != os.Getpid() {
			t.Errorf("a second one: %v", err)
		}
		leave() // what he has written stays, as it does when he is killed
	}
	if err := os.RemoveAll(f.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lead(); !errors.Is(err, ErrGone) {
		t.Errorf("without a run: %v", err)
	}
}
