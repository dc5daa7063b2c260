package confine_test

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestAnExecutorWorksInASandbox: it claims, edits, commits, checks, reads the log of the check and submits; a reviewer outside
// approves. Afterwards the work tree is as git knows it, and the run says what kept the executor in.
func TestAnExecutorWorksInASandbox(t *testing.T) {
	inEach(t, work)
}

func work(t *testing.T, in setting) {
	const script = `echo two >code.txt
git add -A && git commit -qm mine && git log --format=%s | head -1 && git status --porcelain
echo made >"$TMPDIR/made" && echo made >"$HOME/made" && echo "writes its folders"
`
	s := newSite(t, in, "wait_for_task sh:work.sh check submit", map[string]string{"work.sh": script}, "commands = [\"git log -1 --format=checked:%s\"]\n")
	before, checked := s.dotGit(), "checked:mine"
	if in.mechanism == sandbox.Bwrap { // the checks have the git directory of the project
		checked = "checked:more"
	}
	out, err := s.conduct(t)
	run, log := s.executor(t)
	if err != nil || out.Task.State != state.Complete {
		t.Fatalf("%s, %v\n%s\n%+v", out.Task.State, err, log, run)
	}
	for _, want := range []string{"mine\n", "writes its folders", checked, "submitted"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
	if run.Sandbox != string(in.mechanism) || run.Replaced || run.Error != "" {
		t.Errorf("%+v", run)
	}
	if s.dotGit() != before || before == "" {
		t.Errorf("the work tree names %q for %q", s.dotGit(), before)
	}
	if said := s.at.Git("log", "--format=%s", "-1"); strings.TrimSpace(said) != "more" {
		t.Errorf("the branch has %q", said)
	}
	if s.at.Read("code.txt") != "two\n" {
		t.Error("the work is lost")
	}
}
