//go:build unix

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestTheCostOfACleanGate prints, with -full, what a check of 50,000 files takes in the work tree and in a checkout, in one
// run. The command itself does nothing.
func TestTheCostOfACleanGate(t *testing.T) {
	t.Parallel()
	if !kit.Full() {
		t.Skip("needs -full")
	}
	p := enginetest.Repository(t, enginetest.Gate("true"))
	for i := range 50_000 {
		p.Write(fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%50, i), fmt.Sprintf("package f // %d\n", i))
	}
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", "many")
	_, ex := p.Begun()
	check := func(edit string) time.Duration {
		p.Write("code.txt", edit+"\n")
		begin := time.Now()
		out, err := ex.Check(t.Context(), time.Hour)
		for err == nil && out.Status == state.CheckRunning {
			out, err = ex.Check(t.Context(), time.Hour)
		}
		if err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	first := check("one")
	least := func(rounds int, what string) (best time.Duration) {
		for i := range rounds {
			if d := check(fmt.Sprint(what, i)); best == 0 || d < best {
				best = d
			}
		}
		return best
	}
	inTree := least(5, "tree")
	p.Write("ferrus.toml", where("clean", "true"))
	enginetest.Must2(p.Human().AcceptConfig(t.Context()))(t)
	layout := check("two")
	clean := least(5, "clean")
	t.Logf("worktree: first %.2f s, then %.2f s; clean: first %.2f s, then %.2f s, which is %.1f × worktree",
		first.Seconds(), inTree.Seconds(), layout.Seconds(), clean.Seconds(), float64(clean)/float64(inTree))
}
