package sharing

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A full writer takes nothing.
type full struct{ error }

func (w full) Write([]byte) (int, error) { return 0, w.error }

// TestAJournalIsPassedOnWhole to a folder without tasks of its own; what is not valid is neither passed on nor taken.
func TestAJournalIsPassedOnWhole(t *testing.T) {
	a, b := newProject(t, "a"), newFolder(t, "b")
	if out, err := exec.Command("git", "init", "-q", b).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	_, err := project.CreateFiles(project.At(b, ""), project.StoreOptions{}) // with a hard-linked copy of the journal in the repository
	must(t, err)
	if link := project.At(b, "").Backup(); link == "" {
		t.Error("there is no copy of the journal")
	}
	from, to := project.At(a, ""), project.At(b, "")
	must(t, writes(a, ""))
	text := journal(t, a, "")
	if end, err := Export(from, full{os.ErrClosed}); !errors.Is(err, os.ErrClosed) || end.Bytes != int64(len(text)) {
		t.Errorf("the writer is full: %+v, %v", end, err)
	}
	for name, damaged := range map[string]string{"torn": text[:len(text)-7], "another line": strings.Replace(text, "a line", "a lime", 1), "no journal": "hello\n"} {
		events, err := Import(t.Context(), to, strings.NewReader(damaged))
		if err == nil || events != 0 {
			t.Errorf("%s: %d events, %v", name, events, err)
		}
		if now := journal(t, b, ""); now != "" {
			t.Errorf("%s: the journal is %q", name, now)
		}
	}
	events, err := Import(t.Context(), to, strings.NewReader(text))
	if err != nil || events != 2 || journal(t, b, "") != text {
		t.Errorf("%d events, %v: %q", events, err, journal(t, b, ""))
	}
	must(t, writes(b, "")) // the machine is used
	longer := journal(t, b, "")
	_, err = Import(t.Context(), to, strings.NewReader(text))
	if refusal.CodeOf(err) != refusal.WrongState || !strings.Contains(err.Error(), "has tasks of its own") || journal(t, b, "") != longer {
		t.Errorf("%v: %q", err, journal(t, b, ""))
	}

	must(t, os.WriteFile(from.Path(store.JournalName), []byte(strings.Replace(text, "a line", "a lime", 1)), 0o600))
	var passed strings.Builder
	if _, err := Export(from, &passed); err == nil || passed.Len() > 0 {
		t.Errorf("a damaged journal is passed on: %v, %q", err, &passed)
	}
	must(t, os.RemoveAll(from.Dir()))
	if _, err := Export(from, &passed); err == nil || passed.Len() > 0 {
		t.Errorf("no journal is passed on: %v, %q", err, &passed)
	}
}
