//go:build unix

package run

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// TestAPersonIsNotifiedOnceThoughTheConductorDies: around each notification. The line of the journal was sent, and the next conductor
// knows that.
func TestAPersonIsNotifiedOnceThoughTheConductorDies(t *testing.T) {
	for _, point := range []string{"before tell", "after tell"} {
		for n := 1; n <= 3; n++ {
			t.Run(fmt.Sprint(point, " ", n), func(t *testing.T) {
				t.Parallel()
				y := newYard(t)
				must(t, os.Mkdir(y.path(".ferrus"), 0o700))
				y.conf.Deliver = toBox
				y.conf.Notify.Command = `echo "$FERRUS_EVENT $FERRUS_ID" >> told`
				f := y.launch(research(t))
				cmd := y.send(errand{Dir: f.Dir, Point: point, Count: n})
				if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
					t.Fatalf("it was not killed: %v", err)
				}
				a := y.conduct(f)
				if a.Do != pipeline.Archive {
					t.Fatalf("%s\n%s", a, y.story(f))
				}
				y.ended(f, a)
				f.Dir = y.path(".ferrus", "memory", "pipelines", f.Name())
				lines, err := f.Lines()
				must(t, err)
				var want []string
				for _, l := range lines {
					if l.Tell != "" {
						want = append(want, fmt.Sprint("pipeline ", f.Name(), " ", l.Rev))
					}
				}
				if got := strings.Split(strings.TrimSpace(y.text("told")), "\n"); !slices.Equal(got, want) || len(want) < 3 {
					t.Errorf("told %q, not %q", got, want)
				}
			})
		}
	}
}
