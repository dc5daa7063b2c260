package branch_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
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

// TestFilesThatWereEditedAfterASubmissionAreNamed while what counts is the submission, until they are as they were handed in.
func TestFilesThatWereEditedAfterASubmissionAreNamed(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	look := func(when string, want bool) {
		t.Helper()
		if a := branch.AttemptOf(t.Context(), p.Engine()); a.Error != "" || a.Edited != want {
			t.Errorf("%s: edited %v, %s", when, a.Edited, a.Error)
		}
	}
	p.Write("code.txt", "two\n")
	look("at work", false)
	enginetest.Submitted(t, ex)
	look("as it was submitted", false)
	p.Write("code.txt", "three\n")
	look("edited", true)
	p.Write("code.txt", "two\n")
	enginetest.Must(p.Human().Approve(t.Context(), "", ""))(t)
	p.Write("more.txt", "more\n")
	look("with another file", true)
}
