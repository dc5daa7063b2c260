package web

import (
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
)

// TestTheNextPageIsToldWhatChangedWhileNoneWasOpen, and all that are open of what changes then.
func TestTheNextPageIsToldWhatChangedWhileNoneWasOpen(t *testing.T) {
	t.Parallel()
	place := project.At(t.TempDir(), "")
	if err := os.MkdirAll(place.Path("queue"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := newHub(t.Context(), place.Root)
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(place.Path(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := func(page chan change, of string) {
		t.Helper()
		select {
		case c := <-page:
			if c.Of != of || c.Seq <= h.first {
				t.Errorf("%+v, not %q", c, of)
			}
		case <-time.After(20 * time.Second): // before the watcher looks by itself
			t.Fatalf("nobody is told of %q", of)
		}
	}
	_, leave := h.join()
	leave()
	write("STATE.json")
	one, leave := h.join()
	told(one, "")
	two, leaveToo := h.join()
	leave()
	write("queue/a.md")
	told(two, "queue")
	leaveToo()
	if h.stop != nil {
		t.Error("it watches although no page is open")
	}
}
