//go:build unix

package clients

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// TestTheConductorMayDieAnywhere: it is killed after every line of the journal, and the next one at once continues with
// the agents that are there.
func TestTheConductorMayDieAnywhere(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" for "+p.supervisor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, eventful())
			began, said := time.Now(), ""
			c := r.conduct("run", "--headless", task)
			for k := range eventfully {
				kit.Eventually(t, "the next line of the journal", func() bool {
					if r.written() > k {
						return true
					}
					select {
					case <-c.done:
						t.Fatalf("the conductor ended by itself with %d after %d deaths\n%s", c.code, k, &c.out)
					default:
					}
					return false
				})
				c.kill()
				<-c.done
				said += c.out.String()
				c = r.conduct("resume", "--headless")
			}
			<-c.done
			t.Logf("%.1f s", time.Since(began).Seconds())
			if c.code != 0 {
				t.Errorf("exit code %d\n%s", c.code, &c.out)
			}
			r.finished()
			if t.Failed() {
				t.Log(said + c.out.String())
			}
		})
	}
}
