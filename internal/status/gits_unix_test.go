//go:build unix

package status_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAnOverviewAsksGitOnceForABranch: git lists the files of each, and compares them where they differ; all else is asked once for the
// project, and is known already. The order is that of the branches.
func TestAnOverviewAsksGitOnceForABranch(t *testing.T) {
	m := enginetest.Repository(t, enginetest.Gate("true"))
	const branches = 5
	for i := range branches {
		name := fmt.Sprintf("b%d", i)
		enginetest.Branched(t, m.Human(), branch.Fork{Names: []string{name}, Own: true})
		h := m.On(name).Human()
		enginetest.Must(h.CreateTask(t.Context(), "Do it.", ""))(t)
		enginetest.AllKept(h)
		if i > 2 {
			m.On(name).Write("code.txt", name+"\n")
		}
	}
	calls := enginetest.GitLog(t)
	v, err := status.ReadOverview(t.Context(), m.Dir, status.Options{Sizes: true, Open: looking})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	all := calls()
	for _, call := range all {
		verb, _, _ := strings.Cut(call, " ")
		counts[verb]++
	}
	if want := map[string]int{"ls-files": branches, "diff-tree": 2}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v\n%s", counts, want, strings.Join(all, "\n"))
	}
	for i, machine := range v.Machines[1:] {
		if want := fmt.Sprintf("b%d", i); machine.Branch != want || machine.Size == nil || (machine.Size.Files > 0) != (i > 2) {
			t.Errorf("%s in place of %s: %+v", machine.Branch, want, machine.Size)
		}
	}
}
