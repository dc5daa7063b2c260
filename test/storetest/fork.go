package storetest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/store"
)

// forkGoesOn forks at each line.
func forkGoesOn(t *testing.T, k Kind) {
	p, m := written(t, k)
	lines := history(t, m)
	for n := range lines {
		as, to := p.Branch(t)
		upto := int64(0)
		if n > 0 {
			upto = lines[n-1].End
		}
		err := m.Fork(context.Background(), as, upto, func(now store.Snapshot) (*store.Change, error) {
			if now.Task.Seq != uint64(n) || now.Journal.Bytes != upto {
				t.Errorf("it forks at %d, %+v, want line %d", now.Task.Seq, now.Journal, n)
			}
			return noted("forked")(now)
		})
		if err != nil {
			t.Fatal(err)
		}
		branch := k.open(t, to)
		apply(t, branch, noted("and goes on"))
		got := history(t, branch)
		if len(got) != n+2 || got[n].Note != "forked" || n > 0 && got[n-1].H != lines[n-1].H {
			t.Errorf("a fork at line %d has %d lines", n, len(got))
		}
	}
	if len(history(t, m)) != len(lines) {
		t.Error("the machine that was forked has changed")
	}
}

// forkKilled kills a process while it forks. The branch is there whole or not at all, and the next fork of the same name makes it.
func forkKilled(t *testing.T, k Kind) {
	rounds := most(6, 16)
	p, m := written(t, k)
	lines := history(t, m)
	whole := 0
	for round := range rounds {
		as, to := p.Branch(t)
		proc := start(t, p, "fork")
		if got := proc.must(t, fmt.Sprint(as.Name, "\t", as.Draft, "\t", as.Dir)); got != "forks" {
			t.Fatal(got)
		}
		if round == rounds-1 {
			if got, err := proc.says(); got != "<nil>" {
				t.Errorf("%v after it said %q", err, got)
			}
		} else {
			<-time.After(time.Duration(round) * time.Millisecond / 4)
		}
		proc.kill()
		if !p.Forked(t, to) {
			if err := os.RemoveAll(as.Draft); err != nil { // as those do who fork
				t.Fatal(err)
			}
			if err := m.Fork(context.Background(), as, lines[8].End, noted("forked")); err != nil {
				t.Fatalf("the next fork: %v", err)
			}
		} else {
			whole++
		}
		if got := history(t, k.open(t, to)); len(got) != len(lines)+1 || got[8].H != lines[8].H || got[9].Note != "forked" {
			t.Errorf("a killed fork has left %d lines", len(got))
		}
	}
	if whole == 0 {
		t.Error("no fork has succeeded")
	}
	t.Logf("%d of %d forks were complete when they were killed", whole, rounds)
}
