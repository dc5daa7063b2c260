package project_test

import (
	"os"
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
	if r := p.Rehearsal(); r != (project.Rehearsal{}) {
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
	if r := p.Rehearsal(); r != want {
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
	if err := os.WriteFile(p.Path("rehearsal.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.Rehearsal(); r != (project.Rehearsal{}) {
		t.Errorf("a record that is torn: %+v", r)
	}
}
