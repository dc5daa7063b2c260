//go:build unix

package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestACallStartsFewGits: how many git processes each call of a task starts, and each save of its files, in the first task of
// two servers and in a later one; and what tells whether approved work is committed. A number that grows is paid at every call of every agent.
func TestACallStartsFewGits(t *testing.T) {
	p := enginetest.Repository(t, enginetest.Gate("true"))
	for i := range 3 {
		p.Write(fmt.Sprintf("d%d/file", i), "text\n")
	}
	p.Git("add", ".")
	p.Git("commit", "-q", "-m", "more")
	sup, ex := p.Supervisor(), p.Executor("codex")
	calls := enginetest.GitLog(t)
	type gits struct{ call, save int }
	for round, want := range []map[string]gits{
		{"create": {3, 1}, "claim": {1, 0}, "check": {2, 0}, "check again": {2, 0}, "submit": {2, 0}, "review": {4, 0}, "approve": {1, 0}},
		{"create": {2, 1}, "claim": {1, 0}, "check": {2, 0}, "check again": {2, 0}, "submit": {2, 0}, "review": {4, 0}, "approve": {1, 0}},
	} {
		step := func(name string, s *engine.Session, do func()) {
			t.Helper()
			_, first := s.Engine().Keeper().Next() // the call first, then the save
			begin := sync.OnceFunc(func() { close(first) })
			defer begin() // Close of an engine waits for all saves
			do()
			call := calls()
			begin()
			enginetest.AllKept(s)
			save := calls()
			if got := (gits{len(call), len(save)}); got != want[name] {
				t.Errorf("round %d, %s: %+v, want %+v\n%s\nsave:\n%s", round, name, got, want[name], strings.Join(call, "\n"), strings.Join(save, "\n"))
			}
		}
		step("create", sup, func() { enginetest.Must(sup.CreateTask(t.Context(), "Build it.", ""))(t) })
		step("claim", ex, func() { enginetest.Claim(t, ex) })
		p.Write("d1/file", fmt.Sprint("other ", round))
		p.Write("new", fmt.Sprint("new ", round))
		step("check", ex, func() { enginetest.Check(t, ex, state.CheckGreen) })
		step("check again", ex, func() { enginetest.Check(t, ex, state.CheckGreen) })
		step("submit", ex, func() { enginetest.Submitted(t, ex) })
		step("review", sup, func() { enginetest.Must2(sup.Review(t.Context()))(t) })
		step("approve", sup, func() { enginetest.Must(sup.Approve(t.Context(), "ok", "s1"))(t) })
	}
	snap, err := sup.Engine().View()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before []string // of git
		open   bool
		gits   int
	}{{nil, true, 1}, {nil, true, 0}, {[]string{"add", "."}, true, 1}, {[]string{"commit", "-qm", "it"}, false, 1}, {nil, false, 0},
		{[]string{"reset", "-q", "--soft", "HEAD~1"}, true, 1}} {
		if c.before != nil {
			p.Git(c.before...)
			calls()
		}
		if open := sup.Engine().Uncommitted(t.Context(), snap); open != c.open {
			t.Errorf("after %q: uncommitted is %v", c.before, open)
		}
		if call := calls(); len(call) != c.gits {
			t.Errorf("after %q: %d git processes, want %d\n%s", c.before, len(call), c.gits, strings.Join(call, "\n"))
		}
	}
}
