package status_test

import (
	"fmt"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// TestAnOverviewAsksOnce: what a project in a database is asked does not depend on how many branches it has.
func TestAnOverviewAsksOnce(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"))
	at := enginetest.Must(project.At(b.Dir, "").Shared())(t)
	proxy := postgrestest.NewProxy(t, at.URL)
	far := *at
	far.URL = proxy.URL
	if err := project.At(b.Dir, "").Share(&far); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	asked := func() (n int, v *status.Overview) {
		before := proxy.Requests()
		v, err := status.ReadOverview(t.Context(), b.Dir, status.Options{Newest: 5, Sizes: true, Open: looking})
		if err != nil {
			t.Fatal(err)
		}
		return proxy.Requests() - before, v
	}
	made := 0
	var counts []int
	many := 30
	if !kit.Named() {
		many = 12
	}
	for _, n := range []int{4, many} {
		for ; made < n; made++ {
			name := fmt.Sprintf("b%d", made)
			enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{name}, Own: true})
			on := a.On(name)
			enginetest.Must(on.Human().CreateTask(t.Context(), "Do it.", ""))(t)
			ex := on.Executor("codex")
			switch made % 4 {
			case 1:
				enginetest.Claim(t, ex)
				enginetest.Must(ex.Progress(t.Context(), "half"))(t)
			case 2:
				enginetest.Claim(t, ex)
				on.Write("code.txt", "two\n")
				enginetest.Submitted(t, ex)
			case 3:
				enginetest.Claim(t, ex)
				enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t)
			}
		}
		asked() // the first time connections are made, and statements prepared
		count, v := asked()
		counts = append(counts, count)
		if len(v.Machines) != n+1 {
			t.Fatalf("%d machines of %d", len(v.Machines), n+1)
		}
		for _, m := range v.Machines {
			e := enginetest.Must(looking(project.At(b.Dir, m.Branch)))(t)
			r := enginetest.Must(status.Read(e))(t)
			if m.Error != "" || m.State != r.State || m.Title != r.Title || m.Waits != r.WaitText() || r.Holder != nil && m.Holder != r.Holder.Agent {
				t.Errorf("the overview has %+v, and status %+v", m, r)
			}
			if _, err := status.ReadAll(e); err != nil { // its work tree is on another computer
				t.Error(err)
			}
			e.Close()
		}
	}
	if counts[0] != counts[1] || counts[0] > 8 {
		t.Errorf("the database is asked %d times about 4 branches, %d times about 30", counts[0], counts[1])
	}
}

// looking opens a machine for reading.
func looking(p project.Place) (*engine.Engine, error) {
	return engine.Open(p, engine.Options{Log: enginetest.Quiet, Look: true})
}
