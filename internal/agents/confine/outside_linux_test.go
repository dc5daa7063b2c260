package confine_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A crossing is a way by which ferrus runs what an executor has put into the script check.sh or setup.sh.
type crossing struct {
	plan   string // of the executor
	toml   string
	status int // of the script where it cannot do its harm
	run    func(t *testing.T, s *site)
}

// crossings are all of them but the check itself, which has tests of its own.
var crossings = map[string]crossing{
	"a merge whose result is checked": {"wait_for_task sh:work.sh submit", "", 0, func(t *testing.T, s *site) {
		if out, err := s.conduct(t); err != nil || out.Task.State != state.Complete {
			_, log := s.executor(t)
			t.Fatalf("%s, %v\n%s", out.Task.State, err, log)
		}
		s.Write("person.txt", "mine\n") // so that the merged files are not those that were approved
		done, err := branch.Merge(t.Context(), s.Human(), s.at.Human(), nil)
		if err != nil || done.Checks == nil {
			t.Errorf("%+v, %v", done, err)
		}
	}},
	"a check by hand": {"wait_for_task sh:work.sh hang", "", 0, func(t *testing.T, s *site) {
		s.works(t)
		enginetest.Must2(s.at.Human().Engine().Trial(t.Context()))(t)
	}},
	"the next executor of another gate": {"wait_for_task sh:work.sh hang", "", 1, func(t *testing.T, s *site) {
		s.works(t)
		must(t, conductor.EndAll(t.Context(), s.at.Human().Engine()))
		s.Write("ferrus.toml", strings.Replace(s.Read("ferrus.toml"), `["sh check.sh"]`, `["sh check.sh", "true"]`, 1))
		s.Agreed()
		enginetest.Must2(s.at.Human().AcceptConfig(t.Context()))(t)
		s.start(t)
	}},
	"the set-up of a delegate": {"wait_for_task sh:work.sh delegate hang", setUp, 0, func(t *testing.T, s *site) {
		s.works(t)
		s.setUpRight(t, s.delegate(t))
	}},
	"the set-up of a delegate's clean checks": {"wait_for_task sh:work.sh delegate hang", "where = \"clean\"\n" + setUp, 0, func(t *testing.T, s *site) {
		s.works(t)
		d := s.On(s.delegate(t))
		enginetest.Must2(d.Human().Engine().Trial(t.Context()))(t)
		ex := d.Executor("codex")
		enginetest.Claim(t, ex)
		enginetest.Check(t, ex, state.CheckGreen)
	}},
	"the set-up of another attempt": {"wait_for_task sh:work.sh hang", setUp, 0, func(t *testing.T, s *site) {
		s.works(t)
		enginetest.Branched(t, s.at.Human(), branch.Fork{Names: []string{"again"}})
		s.setUpRight(t, "again")
	}},
}

// setUp are the keys of a set-up command; the checks are in its way no more.
const setUp = "[branches]\nsetup = \"sh setup.sh\"\n[limits]\nmax_delegates = 1\n"

// works starts the executor, and waits until it has done its work.
func (s *site) works(t *testing.T) {
	t.Helper()
	s.start(t)
	kit.Eventually(t, "the executor works", func() bool { return s.at.Exists("worked") })
}

// delegate waits for the branch of the delegate, and returns its name.
func (s *site) delegate(t *testing.T) string {
	t.Helper()
	var d state.Delegate
	e := s.at.Human().Engine()
	kit.Eventually(t, "the delegate is there", func() bool {
		list := enginetest.Must(e.View())(t).Task.Delegates
		if len(list) == 0 {
			return false
		}
		d = list[0]
		c := enginetest.Must(delegate.Look(e, d))(t)
		return c.Phase == delegate.Working || !c.Open()
	})
	if !d.Open() {
		t.Fatalf("%+v", d)
	}
	return d.Branch
}

// setUpRight fails unless a branch has the executor's files, and what the set-up has made and changed.
func (s *site) setUpRight(t *testing.T, name string) {
	t.Helper()
	on := s.On(name)
	if !on.Exists("worked") || !strings.Contains(on.Read("check.sh"), "ran") || s.folder().Used() && (on.Read("made") != "made\n" || !strings.HasSuffix(on.Read("code.txt"), "more\n")) {
		t.Errorf("the branch has %q", on.Files())
	}
}

// TestWhatAnExecutorWroteRunsNowhereOutside: whatever makes ferrus run it, and though a person would not see it in time.
func TestWhatAnExecutorWroteRunsNowhereOutside(t *testing.T) {
	for i, in := range append([]setting{unconfined}, settings...) {
		for j, name := range slices.Sorted(maps.Keys(crossings)) {
			if !kit.Sampled(6, i, j) {
				continue
			}
			c := crossings[name]
			t.Run(in.name+", "+name, func(t *testing.T) {
				if in.own && strings.Contains(name, "merge") {
					t.Skip("nothing is merged into the own work tree")
				}
				if in == unconfined && c.status != 0 {
					t.Skip("no sandbox is tried")
				}
				t.Parallel()
				canary := filepath.Join(t.TempDir(), "canary")
				more := "commands = [\"sh check.sh\"]\n"
				if in != unconfined {
					more += fmt.Sprintf("sandbox = \"%s\"\nnetwork = true\n", in.mechanism)
				}
				s := newSite(t, in, c.plan, map[string]string{"work.sh": "exit 0\n", "check.sh": "exit 0\n", "setup.sh": "echo made >made; echo more >>code.txt\n"}, more+c.toml)
				attack := fmt.Sprintf("(echo ran >>'%s') || exit %d", canary, c.status)
				s.at.Write("work.sh", fmt.Sprintf("cat >check.sh <<'END'\n%s\nEND\ncp check.sh setup.sh\nid >worked\n", attack))
				c.run(t, s)
				text, err := os.ReadFile(canary)
				if ran := err == nil; ran == (in != unconfined) {
					t.Errorf("it ran outside: %v\n%s", ran, text)
				}
			})
		}
	}
}
