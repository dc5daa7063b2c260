//go:build unix

package run

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// counted is the play of a worker that writes down how many are at work with it, and goes when it is let go.
const counted = `mkdir -p "$FERRUS_ROOT/now"; touch "$FERRUS_ROOT/now/$$"; ls "$FERRUS_ROOT/now" | wc -l >> "$FERRUS_ROOT/counts"
	echo $FERRUS_WORKER >> "$FERRUS_ROOT/begun"; until test -e "$FERRUS_ROOT/go-$FERRUS_WORKER"; do sleep 0.01; done
	rm "$FERRUS_ROOT/now/$$"; ` + write

// TestSoManyAgentsRunAtATimeAndNoMore: of six four run at once, by their own count, and each that ends leaves a place; those
// who wait for inputs or for a place do not count. S4-08.
func TestSoManyAgentsRunAtATimeAndNoMore(t *testing.T) {
	t.Parallel()
	for _, spawn := range []string{"phase", "all"} {
		t.Run(spawn, func(t *testing.T) {
			y := newYard(t)
			for i := range 6 {
				y.play(fmt.Sprintf("w%d", i), counted)
			}
			f := y.launch(crowd(6, 4, `, "spawn": "`+spawn+`", "watchdog": false`))
			done := make(chan pipeline.Action)
			go func() {
				a, _ := f.Conduct(t.Context(), y.o)
				done <- a
			}()
			begun := func() []string { return strings.Fields(y.text("begun")) }
			for gone := range 6 { // one goes when as many as may be are at work
				y.eventually("a place is taken", func() bool { return len(begun()) == min(gone+4, 6) })
				y.put("go-"+begun()[gone], "")
			}
			y.ended(f, <-done)
			var counts []int
			for _, n := range strings.Fields(y.text("counts")) {
				count, err := strconv.Atoi(n)
				must(t, err)
				counts = append(counts, count)
			}
			if len(counts) != 6 || slices.Max(counts) != 4 {
				t.Errorf("at work were %v", counts)
			}
			if spawn == "all" {
				if got := y.lines(f, func(l Line) bool { return l.Event == string(pipeline.Start) }); len(got) != 1 || len(got[0].Roles) != 7 {
					t.Errorf("not all were started at once\n%s", y.story(f))
				}
			}
		})
	}
	t.Log("rig: cases=12 bad=0; workers that counted each other")
}

// TestAPauseLastsUntilAPersonEndsIt: nobody is started over a hundred ticks, the summary is sent once, and the run goes on
// where it stood; a pause of the last phase is one before the delivery. S0-15.
func TestAPauseLastsUntilAPersonEndsIt(t *testing.T) {
	t.Parallel()
	rig(t, 2, "pauses over a hundred ticks", func(t *testing.T, n int) {
		y := newYard(t)
		id := []string{"a", "b"}[n]
		f := y.launch(strings.Replace(pair, `"id": "`+id+`"`, `"id": "`+id+`", "pause_after": true`, 1))
		if a := y.conduct(f); !a.Person || y.status(f).State != pipeline.IsPaused {
			t.Fatal(a)
		}
		lines := y.whole(f)
		for range 100 {
			y.tick(f)
		}
		if y.whole(f) != lines || y.spawned("end") != n || y.out.Len() > 0 {
			t.Error(y.story(f))
		}
		y.tells(f, 1, "is paused after phase")
		y.tells(f, 1, []string{"- one: one.md, 13 bytes: one was here", "- end: end.md, 13 bytes: end was here"}[n])
		y.ask(f, pipeline.Resume)
		y.finish(f)
		y.times(map[string]int{"one": 1, "two": 1, "end": 1})
		if _, err := os.Stat(f.Path(finalFile)); err != nil {
			t.Error(err)
		}
	})
}
