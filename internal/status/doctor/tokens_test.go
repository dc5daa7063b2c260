package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestTheDoctorSaysWhenNobodyCanComeOverHTTPAnyMore, and nothing of tokens where HTTP was never used.
func TestTheDoctorSaysWhenNobodyCanComeOverHTTPAnyMore(t *testing.T) {
	dir := t.TempDir()
	sharedtest.Init(t, dir)
	place := project.At(dir, "")
	look := func(want Level) {
		t.Helper()
		p := New(t.Context(), place, host, false)
		defer p.Forget()
		if f := checkTokens(p); f.Level != want || (want == Note || want == Trouble) && f.Remedy == "" {
			t.Errorf("it says %+v, not %q", f, want)
		}
	}
	e, err := engine.Open(place, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	local := e.Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:here:1"})
	if _, err := local.CreateTask(t.Context(), "One.", ""); err != nil {
		t.Fatal(err)
	}
	look("")
	book := tokens.Open(place.Dir())
	if _, _, err := book.New(state.Executor, "ci", time.Time{}); err != nil {
		t.Fatal(err)
	}
	look(OK)
	far, err := e.Remote(engine.Caller{Role: state.Executor, Agent: "executor:ci:1"}, "tk-1", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := far.AwaitTask(t.Context(), time.Second, true); got == nil {
		t.Fatal(err)
	}
	look(OK)
	file := filepath.Join(place.Dir(), "tokens.json")
	if runtime.GOOS != "windows" {
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		look(Trouble)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	look(Note)
}
