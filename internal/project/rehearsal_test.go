package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project"
)

// TestARehearsalIsOfOneConfiguration: a record names the set-up and the checks, and nothing that changes neither.
func TestARehearsalIsOfOneConfiguration(t *testing.T) {
	root := t.TempDir()
	p := project.At(root, "")
	if err := os.Mkdir(p.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := p.Rehearsal(); !reflect.DeepEqual(r, project.Rehearsal{}) {
		t.Errorf("before any: %+v", r)
	}
	parse := func(text string) string {
		t.Helper()
		c, err := config.Parse(config.FileName, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Rehearsed()
	}
	const base = "[checks]\ncommands = [\"true\"]\n"
	want := project.Rehearsal{Config: parse(base), Passed: true, At: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	if err := p.Rehearsed(want); err != nil {
		t.Fatal(err)
	}
	if r := p.Rehearsal(); !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
	for text, same := range map[string]bool{
		base + "ignore = []\n":                      true,
		base + "[limits]\nmax_task_minutes = 5\n":   true,
		base + "[branches]\nsetup = \" \"\n":        true,
		base + "[branches]\nsetup = \"npm ci\"\n":   false,
		base + "network = true\n":                   false,
		"[checks]\ncommands = [\"true\", \"ls\"]\n": false,
	} {
		if (parse(text) == want.Config) != same {
			t.Errorf("%q: same %v", text, !same)
		}
	}
	for range 2 * 16 { // of much only the first is recorded
		want.Made = append(want.Made, "node_modules")
	}
	want.Made[0] = "there/file"
	if err := errors.Join(os.MkdirAll(filepath.Join(p.Root, "there", "file"), 0o755), p.Rehearsed(want)); err != nil {
		t.Fatal(err)
	}
	if absent := p.Absent(want.Config); len(absent) != 15 || absent[0] != "node_modules" {
		t.Errorf("absent: %q", absent)
	}
	if absent := p.Absent("another"); absent != nil {
		t.Errorf("of another configuration: %q", absent)
	}
	long := project.Rehearsal{Config: want.Config, Failed: project.SetUpFailed, At: want.At, Made: []string{"short"}}
	for range 15 {
		long.Made = append(long.Made, strings.Repeat("\x01", 200))
	}
	if err := p.Rehearsed(long); err != nil || !p.Rehearsal().NotPassed() || p.Rehearsal().Made[0] != "short" {
		t.Errorf("with long names: %v, %+v", err, p.Rehearsal())
	}
	want.Accepted = true
	if err := p.Rehearsed(want); err != nil || p.Absent(want.Config) != nil {
		t.Errorf("accepted: %v, %q", err, p.Absent(want.Config))
	}
	if err := os.WriteFile(p.Path("rehearsal.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.Rehearsal(); !reflect.DeepEqual(r, project.Rehearsal{}) {
		t.Errorf("a record that is torn: %+v", r)
	}
}

// TestWhatIsKnownAgainstACommandEndsWithItsRehearsal: a failure stays until a rehearsal passes, what a person allows is for the commands
// that it was given for, and commands that were never tried are known by their name alone.
func TestWhatIsKnownAgainstACommandEndsWithItsRehearsal(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		r           project.Rehearsal
		same, other string
	}{
		{project.Rehearsal{}, "", ""},
		{project.Rehearsal{Config: "a", Passed: true, At: now}, "", ""},
		{project.Rehearsal{Config: "a", At: now}, "the checks failed in the rehearsal", "the rehearsal failed, and ferrus.toml has changed since"},
		{project.Rehearsal{Config: "a", Failed: project.SetUpFailed, At: now}, "the set-up failed in the rehearsal", "the rehearsal failed, and ferrus.toml has changed since"},
		{project.Rehearsal{Config: "a", Failed: project.ChecksWrote, At: now}, "the checks wrote files that they judge in the rehearsal", "the rehearsal failed, and ferrus.toml has changed since"},
		{project.Rehearsal{Config: "a", Failed: project.NotTried, At: now}, "the checks were never tried", ""},
		{project.Rehearsal{Config: "a", Accepted: true, At: now}, "", "the rehearsal failed, and ferrus.toml has changed since"},
	} {
		if same, other := c.r.Against("a"), c.r.Against("b"); same != c.same || other != c.other {
			t.Errorf("%+v: %q and %q, not %q and %q", c.r, same, other, c.same, c.other)
		}
	}
}
