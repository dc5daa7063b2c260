//go:build unix

package conductor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAPersonIsNotifiedOnceOfEachQuestion: whatever else happens meanwhile, and whichever conductor runs.
func TestAPersonIsNotifiedOnceOfEachQuestion(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n[notify]\ncommand = '(echo $FERRUS_EVENT $FERRUS_QUESTION $FERRUS_STATE $FERRUS_TITLE; sed \"s/^id: [^ ]*/id:/; s/ 20.*//\") >> told'\n")
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	notify := func() {
		t.Helper()
		f, err := c.gather()
		if err != nil {
			t.Fatal(err)
		}
		c.notify(f)
		notify.Finish(t.Context())
	}
	must := func(_ engine.Done, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ask := func(text string) {
		t.Helper()
		now, err := c.e.View()
		if err != nil {
			t.Fatal(err)
		}
		must(c.e.Ask(t.Context(), now, text, nil))
	}
	must(human.CreateTask(t.Context(), "Build it.", ""))
	notify() // nothing is asked
	ask("Red?")
	notify()
	notify()
	// An event while the person thinks.
	path := filepath.Join(c.e.Place().Root, "ferrus.toml")
	toml, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(toml, "[limits]\nmax_check_retries = 9\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed, done, err := human.AcceptConfig(t.Context())
	if must(done, err); len(changed) == 0 {
		t.Fatal("nothing was accepted")
	}
	notify()
	must(human.Answer(t.Context(), "", "Yes."))
	notify()
	ask("Red?")
	notify()
	must(human.Reset(t.Context(), ""))
	notify()
	told, _ := os.ReadFile(filepath.Join(c.e.Place().Root, "told"))
	want := ""
	for _, q := range []string{"q1", "q2"} {
		want += "question " + q + " AwaitingHuman Build it.\n│ Build it.\n\nferrus asks:\n│ Red?\n\nferrus answer \"...\" -C " + c.e.Place().Root + "\nid: question " + q + "\n"
	}
	if string(told) != want {
		t.Errorf("told %q, not %q", told, want)
	}
}

// TestANotifierThatStaysDoesNotStopTheConductor: a program in the background keeps the pipe of its output open.
func TestANotifierThatStaysDoesNotStopTheConductor(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n[notify]\ncommand = 'sleep 1000 & echo $! > pid'\n")
	human := c.e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
	if _, err := human.CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	f, err := c.gather()
	if err == nil {
		_, err = c.e.Ask(t.Context(), f.Snapshot, "Red?", nil)
	}
	if err == nil {
		f, err = c.gather()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.notify(f)
	notify.Finish(t.Context())
	if pid, _ := os.ReadFile(filepath.Join(c.e.Place().Root, "pid")); strings.TrimSpace(string(pid)) == "" {
		t.Error("it was not run")
	} else if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
		if p, err := os.FindProcess(n); err != nil || p.Signal(syscall.Signal(0)) != nil {
			t.Error("the conductor waited for the end of the program")
		} else {
			_ = p.Kill()
		}
	}
	if _, err := os.Stat(c.e.Place().Path(liveDir, "outbox.json")); err != nil {
		t.Error("it is not written down: ", err)
	}
}
