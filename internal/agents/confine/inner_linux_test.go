package confine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestWhatLiesInTheWorkTreeOfAnotherIsHidden: .ferrus of another project and a linked work tree of the person, in the project's own
// work tree.
func TestWhatLiesInTheWorkTreeOfAnotherIsHidden(t *testing.T) {
	s := newSite(t, settings[2], "wait_for_task sh:work.sh submit", map[string]string{"work.sh": `cd apps; cat other/.ferrus/tokens.json feature/code.txt
echo spoiled >>other/.ferrus/tokens.json; echo spoiled >>feature/code.txt; echo "gitdir: x" >feature/.git; mv other gone; mv feature gone; mv ../apps ../gone
echo mine >mine; exit 0
`}, "")
	other := &enginetest.Machine{T: t, Dir: s.Path("apps/other"), Side: s.Side, Opts: s.Opts}
	other.Write("ferrus.toml", "")
	other.Init()
	other.Recorded().Agreed()
	other.Write(".ferrus/tokens.json", "secret\n")
	s.Git("worktree", "add", "-q", "--detach", s.Path("apps/feature"))
	s.Write("apps/feature/code.txt", "secret\n")
	look := func() string {
		return s.Read("apps/other/.ferrus/tokens.json") + s.Read("apps/feature/code.txt") + s.Read("apps/feature/.git")
	}
	before := look()
	out, err := s.conduct(t)
	_, log := s.executor(t)
	if err != nil || out.Task.State != state.Complete || s.Read("apps/mine") != "mine\n" {
		t.Fatalf("%s, %v\n%s", out.Task.State, err, log)
	}
	if look() != before || strings.Contains(log, "secret") {
		t.Errorf("it has read or changed them: %q\n%s", look(), log)
	}
}

// TestACheckLeavesNoSubmodule that git of a person would obey, whoever runs the check.
func TestACheckLeavesNoSubmodule(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		s := newSite(t, in, "wait_for_task sh:work.sh hang", map[string]string{"work.sh": "id >worked\n", ".gitmodules": "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n"},
			"commands = [\"mkdir -p sub && git init -q sub\"]\n")
		s.works(t)
		enginetest.Must2(s.at.Human().Engine().Trial(t.Context()))(t)
		if _, err := os.Stat(s.at.Path("sub/.git")); err == nil || !s.at.Exists("sub") {
			t.Errorf("%v", err)
		}
	})
}
