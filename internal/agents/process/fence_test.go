//go:build unix

package process

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// TestAFenceEndsAnAgentThatOthersMayContinue: one whose computer the database has not heard of, and one whose conductor has ended. While both are there
// it lives. Whoever knows the session of its shim sees that it lives, and that it has ended.
func TestAFenceEndsAnAgentThatOthersMayContinue(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		heard, conducted bool
		signal           string
	}{
		"not heard of":           {false, true, "SIGKILL"},
		"without conductor":      {true, false, "SIGTERM"},
		"heard of and conducted": {true, true, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			o := b.order("echo at work; exec sleep 600")
			o.Session = "b8d8a1f5"
			o.Fence = Fence{Heard: live.HeardFile(b.dir), Silence: 3 * time.Second, Conductor: b.path("live/conductor.lock"), Alone: time.Second}
			conductor, err := filelock.Take(o.Fence.Conductor)
			if err != nil {
				t.Fatal(err)
			}
			defer conductor.Close()
			note := func() {
				if err := live.NoteHeard(b.dir, clock.Read()); err != nil {
					t.Error(err)
				}
			}
			note()
			if _, err := Start(o); err != nil {
				t.Fatal(err)
			}
			sessions := live.In(b.dir)
			if got := sessions.Probe(o.Session); got != lease.Alive {
				t.Errorf("the session of its shim is %s", got)
			}
			if !c.conducted {
				conductor.Close()
			}
			every := time.NewTicker(100 * time.Millisecond)
			defer every.Stop()
			for range 35 { // longer than it may be alone or unheard of
				<-every.C
				if c.heard {
					note()
				}
			}
			if c.signal == "" {
				if b.runs()[0].Over() {
					t.Fatalf("it has ended: %+v", b.runs())
				}
				if err := b.slot.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			}
			end := b.over()
			if c.signal != "" && (!end.Stopped || end.Signal != c.signal || end.Error == "") {
				t.Errorf("%+v", end)
			}
			if got := sessions.Probe(o.Session); got != lease.Gone {
				t.Errorf("the session of a shim that has ended is %s", got)
			}
		})
	}
}
