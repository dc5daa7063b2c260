package publish_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestEverybodyIsToldThatFilesWereNotPublished: a check counts all the same, and each reader of the task, on each computer, sees why other computers do not
// have its files, until they do.
func TestEverybodyIsToldThatFilesWereNotPublished(t *testing.T) {
	for name, refuse := range map[string]func(host string) (undo func()){
		"a hook refuses": func(host string) func() {
			hook := filepath.Join(host, "hooks", "pre-receive")
			must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
			must(t, os.WriteFile(hook, []byte("#!/bin/sh\nprintf 'not\\033[31m here' >&2\nexit 1\n"), 0o755))
			return func() { must(t, os.Remove(hook)) }
		},
		"it takes only branches": func(host string) func() {
			bare := &enginetest.Machine{T: t, Dir: host}
			bare.Git("config", "receive.hideRefs", "refs/ferrus")
			return func() { bare.Git("config", "--unset", "receive.hideRefs") }
		},
		"it is gone": func(host string) func() {
			must(t, os.Rename(host, host+".away"))
			return func() { must(t, os.Rename(host+".away", host)) }
		},
	} {
		a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
		undo := refuse(host)
		alt, ex := branched(t, a)
		told := func(when string, want bool) {
			t.Helper()
			for _, m := range []*enginetest.Machine{alt, b.On("alt")} {
				r, err := status.Read(m.Human().Engine())
				must(t, err)
				notices := strings.Join(r.Notices, "\n")
				if strings.Contains(notices, "unpublished: other computers do not have the newest files of this task: the files ") != want || strings.ContainsRune(notices, 27) {
					t.Errorf("%s: %s: the notices are %q", name, when, r.Notices)
				}
			}
		}
		logged := func(event state.Event, want bool) {
			t.Helper()
			var text string
			var key any
			list, err := status.History(ex.Engine(), 0)
			must(t, err)
			for _, p := range list {
				if p.Event == event {
					text, key = p.NoteText(), p.LineJSON()["unpublished"]
				}
			}
			if strings.Contains(text, "not published") != want || (key != nil) != want {
				t.Errorf("%s: %s in the log: %q, %v", name, event, text, key)
			}
		}
		told("a task begins", true)
		logged(state.CreateTask, true)
		alt.Write("code.txt", "two\n")
		enginetest.Check(t, ex, state.CheckGreen)
		told("it was checked", true)
		logged(state.CheckPassed, true)
		undo()
		enginetest.Submitted(t, ex)
		told("it was submitted", false)
		logged(state.Submit, false)
	}
}

// TestACheckThatIsPublishedSaysSo by saying nothing more.
func TestACheckThatIsPublishedSaysSo(t *testing.T) {
	a, _, host := enginetest.Computers(t, enginetest.Gate("true"))
	must(t, os.Rename(host, host+".away"))
	alt, ex := branched(t, a)
	must(t, os.Rename(host+".away", host))
	if enginetest.View(t, ex).Task.Unpublished == "" {
		t.Error("nothing is said of the beginning")
	}
	alt.Write("code.txt", "two\n")
	enginetest.Check(t, ex, state.CheckGreen)
	if why := enginetest.View(t, ex).Task.Unpublished; why != "" {
		t.Errorf("it still says %q", why)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
