package checkrun_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// leaves is a check that fails where its folder for temporary files or its home folder is not empty, and leaves files there.
const leaves = "[checks]\ncommands = ['echo \"$TMPDIR\"; test -z \"$(ls -A \"$TMPDIR\" \"$HOME\" | grep -v :)\" && echo left >\"$TMPDIR/left\" && mkdir \"$HOME/.config\" && echo left >\"$HOME/.config/left\" && chmod 500 \"$HOME/.config\"']\n" +
	"sandbox = \"on\"\nnetwork = true\nwhere = \"clean\"\n"

// TestNoCheckLosesItsTemporaryFiles: each begins with an empty folder for them and an empty home folder, which nothing empties while
// the check runs, and which no check of the other kind uses.
func TestNoCheckLosesItsTemporaryFiles(t *testing.T) {
	held(t)
	m := enginetest.Repository(t, leaves)
	const ofTask, byHand = ".ferrus/sandbox/tmp/task/left", ".ferrus/sandbox/tmp/by-hand/left"
	has := func(when string, task, hand bool) {
		t.Helper()
		if m.Exists(ofTask) != task || m.Exists(byHand) != hand {
			t.Errorf("%s: %v, %v", when, m.Exists(ofTask), m.Exists(byHand))
		}
	}
	h, ex := m.Human(), m.Executor("codex")
	trial := func() {
		t.Helper()
		res, _, err := h.Engine().Trial(t.Context())
		if err != nil || res.Status != checks.Passed {
			t.Fatalf("%v, %+v", err, res)
		}
	}

	enginetest.Must(h.CreateTask(t.Context(), "Build it.", ""))(t)
	if m.Exists(".ferrus/sandbox") {
		t.Error("a folder was made, and no check has run")
	}
	enginetest.Claim(t, ex)
	trial()
	has("after a trial", false, true)
	if out := enginetest.Must(ex.Check(t.Context(), kit.Patience))(t); out.Task.Check.Status != state.CheckGreen {
		t.Fatalf("%+v", out.Task.Check)
	}
	has("after a check of the task", true, true)
	m.Remove(ofTask)
	trial()
	has("after a second trial", false, true)

	m.Write(".ferrus/sandbox/tmp/task/left", "of a check that runs\n")
	if _, _, err := h.AcceptConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	has("after ferrus config accept", true, true)

	// A second trial begins while the first one runs.
	e := h.Engine()
	lock, err := filelock.Take(e.Place().Path("live", "check-by-hand.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	conf := enginetest.Must(e.Config())(t)
	at, err := e.Runner().Prepare(t.Context(), enginetest.View(t, h), conf.Gate(), checkrun.Target{Task: gc.ByHand})
	if err != nil {
		t.Fatal(err)
	}
	at.Release()
	has("as a second trial begins", true, true)
}
