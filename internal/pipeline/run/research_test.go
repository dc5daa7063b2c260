//go:build unix

package run

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// TestTheOriginalPipeline runs the workflows.json that this was made for, byte for byte, and demands its status.json at each of its steps.
func TestTheOriginalPipeline(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for _, role := range []string{"researcher-a", "researcher-b", "synthesizer"} {
		y.play(role, gated)
	}
	f := y.launch(research(t))
	if a := y.tick(f); a.Do != pipeline.Wait {
		t.Fatal(a)
	}
	agrees(t, f, "../testdata/status1.json")
	y.lets(f, "researcher-a")
	agrees(t, f, "../testdata/status4.json")
	y.lets(f, "researcher-b")
	agrees(t, f, "../testdata/status6.json")
	y.put("go-synthesizer", "")
	y.ended(f, y.conduct(f))
	if y.out.String() != "synthesizer was here\n" {
		t.Errorf("delivered %q", y.out.String())
	}
	for _, role := range []string{"researcher-a", "researcher-b", "synthesizer"} {
		if y.spawned(role) != 1 {
			t.Errorf("%s was started %d times", role, y.spawned(role))
		}
	}
	if p, err := f.Prompt("synthesizer"); err != nil || !strings.Contains(p, f.Name()+"/researcher-a.md") {
		t.Errorf("%v: %s", err, p)
	}
}

// gated is the play of a worker that waits until it is let go.
const gated = `until test -e "$FERRUS_ROOT/go-$FERRUS_WORKER"; do sleep 0.01; done; ` + write

// lets lets a worker go, and ticks when it is gone.
func (y *yard) lets(f *Folder, role string) {
	y.t.Helper()
	y.put("go-"+role, "")
	y.eventually(role+" is gone", func() bool { _, taken := f.Slot(role).Taken(); return !taken })
	y.tick(f)
}

// agrees demands that what a status of the original says stands at the same place in the run's.
func agrees(t *testing.T, f *Folder, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	must(t, err)
	got, err := os.ReadFile(f.Path(statusFile))
	must(t, err)
	var a, b any
	must(t, json.Unmarshal(want, &a))
	must(t, json.Unmarshal(got, &b))
	compare(t, path, "", a, b)
}

func compare(t *testing.T, path, at string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, v := range w {
			if !ok || g[k] == nil {
				t.Errorf("%s: %s/%s is missing", path, at, k)
				continue
			}
			compare(t, path, at+"/"+k, v, g[k])
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			t.Errorf("%s: %s has %d", path, at, len(g))
			return
		}
		for i := range w {
			compare(t, path, at+"/"+string(rune('0'+i)), w[i], g[i])
		}
	default:
		if named := strings.HasSuffix(at, "/session") || at == "/dir" || at == "/topic"; named && w != "" {
			if got == "" {
				t.Errorf("%s: %s is empty", path, at)
			}
			return
		}
		if want != got {
			t.Errorf("%s: %s is %v, not %v", path, at, got, want)
		}
	}
}
