package branch_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// TestSubmittedWorkIsKnownWhole: its files were all read when it was checked, whatever another command has left out of the work
// tree since.
func TestSubmittedWorkIsKnownWhole(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Git("config", "filter.same.clean", "cat")
	p.Write(".git/info/attributes", "* filter=same\n")
	_, ex := p.Begun()
	p.Write("code.txt", "two\n")
	enginetest.Submitted(t, ex)
	h := p.Human()
	enginetest.Must(h.Approve(t.Context(), "", ""))(t)
	p.Write("code.txt", "three\n") // which only a fingerprint would read
	e := h.Engine()
	e.Uncommitted(t.Context(), enginetest.View(t, h))
	if a := branch.AttemptOf(t.Context(), e); !a.Green || len(a.Skipped) > 0 || a.Size.Files != 1 {
		t.Errorf("green %v, skipped %q, %+v", a.Green, a.Skipped, a.Size)
	}
}
