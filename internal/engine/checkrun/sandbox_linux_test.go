package checkrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// hostile is what an executor's test may be: it reads and writes whatever the user can, and then what every test may.
const hostile = `
cat "$PROJECT/.ferrus/journal.jsonl" "$PROJECT/.git/ferrus/"*/journal.jsonl "$VICTIM/.ssh/id" "$VICTIM/notes"
echo spoiled >>"$PROJECT/.ferrus/journal.jsonl"
echo spoiled >>"$VICTIM/.bashrc"
echo spoiled >>"$PROJECT/.git/config"
echo spoiled >"$PROJECT/.git/hooks/post-commit"
test "$PWD" = "$PROJECT" || echo spoiled >>"$PROJECT/code.txt"
echo made >made.tmp && rm made.tmp && echo "writes its folder"
echo made >"$TMPDIR/made" && echo "writes TMPDIR"
echo made >"$HOME/made" && echo "writes HOME"
git -c safe.directory="*" log -1 --format=%s >/dev/null && echo "reads git"
rm -rf "$VICTIM" "$PROJECT/.ferrus"
exit 0
`

// held are the mechanisms that hold here.
func held(t *testing.T) []sandbox.Mechanism {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var list []sandbox.Mechanism
	for _, m := range sandbox.Mechanisms() {
		if err := sandbox.Probe(t.Context(), m, self); err != nil {
			t.Log(err)
			continue
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		t.Skip("no sandbox holds here")
	}
	return list
}

// text is what a file holds, "" when it is gone.
func text(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// TestAHostileCheckReachesNothing: what an agent wrote runs as a check in the project's own tree, on a branch and in a private
// checkout. It can neither read nor change what is not its own, and can do what every check needs.
func TestAHostileCheckReachesNothing(t *testing.T) {
	for _, mechanism := range append(held(t), sandbox.None) {
		for _, where := range []string{"project", "branch", "clean"} {
			if mechanism == sandbox.Landlock && where == "project" {
				continue // it is refused: see TestASandboxThatCannotHoldIsRefused
			}
			t.Run(fmt.Sprintf("%s, %s", mechanism, where), func(t *testing.T) {
				victim := t.TempDir()
				t.Setenv("HOME", victim)
				files := map[string]string{".bashrc": "good\n", "notes": "secret\n", ".ssh/id": "secret\n"}
				for name, text := range files {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(victim, name)), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(victim, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				m := enginetest.Repository(t, "")
				toml := fmt.Sprintf("[checks]\ncommands = [\"sh hostile.sh\"]\nnetwork = true\nenv = { PROJECT = %q, VICTIM = %q }\n", m.Dir, victim)
				if mechanism != sandbox.None {
					toml += fmt.Sprintf("sandbox = %q\n", mechanism)
				}
				if where == "clean" {
					toml += "where = \"clean\"\n"
				}
				m.Write("ferrus.toml", toml)
				m.Write("hostile.sh", hostile)
				at := m
				if where == "branch" {
					m.Git("add", "-A")
					m.Git("commit", "-qm", "hostile")
					enginetest.Branched(t, m.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
					at = m.On("alt")
					at.Write("hostile.sh", hostile)
				}
				journal := filepath.Join(m.Dir, ".ferrus", "journal.jsonl")
				outside := func() string {
					_, err := os.Stat(journal)
					return fmt.Sprint(m.Read(".git/config"), m.Read("code.txt"), text(journal), err)
				}
				before := outside()
				e := at.Human().Engine()
				res, _, err := e.Trial(t.Context())
				if destroyed := strings.HasPrefix(res.Err, "files changed meanwhile"); err != nil || res.Status != checks.Passed && !destroyed { // it removes what it may
					t.Fatalf("%v, %+v\n%s", err, res, text(e.Place().Path("logs/check-by-hand.log")))
				}
				log := text(e.Place().Path("logs/check-by-hand.log"))
				spoiled := strings.Contains(log, "secret") || strings.Contains(log, `"event"`) || outside() != before || m.Exists(".git/hooks/post-commit")
				for name, good := range files {
					if text(filepath.Join(victim, name)) != good {
						spoiled = true
					}
				}
				if spoiled != (mechanism == sandbox.None) {
					t.Errorf("it has spoiled or read something: %v\n%s", spoiled, log)
				}
				for _, can := range []string{"writes its folder", "writes TMPDIR", "writes HOME", "reads git"} {
					if can == "reads git" && where == "clean" {
						continue // there is no repository
					}
					if mechanism != sandbox.None && !strings.Contains(log, can) {
						t.Errorf("nothing %s\n%s", can, log)
					}
				}
			})
		}
	}
}

// TestASandboxThatCannotHoldIsRefused before a task is created, with what to do.
func TestASandboxThatCannotHoldIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ toml, want string }{
		"landlock in the project's own tree": {"sandbox = \"landlock\"\nnetwork = true\n", `where = "clean"`},
		"landlock without a network":         {"sandbox = \"landlock\"\n", "network = true"},
		"a path that is not absolute":        {"sandbox = \"on\"\nnetwork = true\nread = [\"x\"]\n", "clean absolute path"},
		"a link in the project":              {"sandbox = \"on\"\nnetwork = true\nwhere = \"clean\"\nread = [\"PROJECT/data/x\"]\n", "by a link in the project"},
	} {
		t.Run(name, func(t *testing.T) {
			held(t)
			m := enginetest.Repository(t, "")
			m.Write("ferrus.toml", "[checks]\ncommands = [\"true\"]\n"+strings.ReplaceAll(c.toml, "PROJECT", m.Dir))
			m.Write("to/x/y", "")
			if err := os.Symlink("to", m.Path("data")); err != nil {
				t.Fatal(err)
			}
			_, err := m.Human().CreateTask(t.Context(), "Paint it.", "")
			if refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(fmt.Sprintf("%+v %v", err, err), c.want) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// TestTheSandboxIsFrozen: an executor that edits ferrus.toml does not leave it.
func TestTheSandboxIsFrozen(t *testing.T) {
	var conf config.Config
	conf.Checks.Sandbox = "bwrap"
	frozen := conf.Gate()
	conf.Checks.Sandbox = config.NoSandbox
	if changes := frozen.Diff(conf.Gate()); len(changes) != 1 || changes[0].Key != "checks.sandbox" {
		t.Errorf("%v", changes)
	}
}
