//go:build unix

package clients

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestStopEndsAllAndResumeGoesOn: ferrus stop in the middle of the work ends the conductor and the agents, at once and
// without a trace; a hanging model is no hindrance.
func TestStopEndsAllAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			hang := model.When(func(r model.Request) bool { return model.Claimed(r) && r.Packet().Epoch == 1 },
				model.Answer(model.Reply{Hang: true}))
			r := newRig(t, p.supervisor, p.executor, model.Diligent(hang, model.ReadPatch(), model.Work(paint)))
			c := r.conduct("run", "--headless", task)
			kit.Eventually(t, "a claim", func() bool { return r.written() >= 2 })
			began := time.Now()
			r.must(ferrus, "stop")
			<-c.done
			t.Logf("stopped in %.1f s", time.Since(began).Seconds())
			if c.code == 0 {
				t.Errorf("the run that was stopped ended well\n%s", &c.out)
			}
			r.gone()
			if code, out := r.run(ferrus, "resume", "--headless"); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if now := r.now(); now.State != state.Complete || r.text("colour.txt") != "blue\n" {
				t.Errorf("%s, colour.txt is %q", now.State, r.text("colour.txt"))
			}
			r.gone()
		})
	}
}
