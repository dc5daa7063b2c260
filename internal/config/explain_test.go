package config

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/test/golden"
)

const examplePath = "../../ferrus.toml.example"

func TestTheExampleIsTheDefaults(t *testing.T) {
	c, err := Parse("ferrus.toml.example", Example())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), c, sameValues); diff != "" {
		t.Error(diff)
	}
	for _, row := range c.Explain() {
		if row.Value != row.Default {
			t.Errorf("%s is explained as %s, default %s", row.Key, row.Value, row.Default)
		}
		if !row.Set() && row.Default != none {
			t.Errorf("the example leaves out %s", row.Key)
		}
	}
}

func TestTheExampleFileIsFresh(t *testing.T) {
	golden.Check(t, examplePath, string(Example()))
}

func TestTheCommentedSampleIsAcceptedToo(t *testing.T) {
	text := bytes.Replace(Example(), []byte("# commands"), []byte("commands"), 1)
	c, err := Parse("ferrus.toml.example", text)
	if err != nil || len(c.Checks.Commands) != 2 {
		t.Errorf("%q, %v", c.Checks.Commands, err)
	}
}

func TestEveryKeyHasOneCommentThatFits(t *testing.T) {
	for _, k := range keys {
		if len(k.comment) < 20 || len(k.comment) > 116 || strings.Contains(k.comment, "\n") || !strings.HasSuffix(k.comment, ".") {
			t.Errorf("%s: %q", k.name, k.comment)
		}
	}
}

func TestExplainSaysWhatTheFileSets(t *testing.T) {
	c, err := Parse(FileName, []byte("[limits]\nmax_review_cycles = 3\nwait_timeout_secs = 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range c.Explain() {
		want := map[string]int{"limits.max_review_cycles": 2, "server.wait_timeout_secs": 3}[row.Key]
		if row.Line != want || row.Set() != (want > 0) {
			t.Errorf("%s: line %d, want %d", row.Key, row.Line, want)
		}
		if row.Key == "server.wait_timeout_secs" && (row.Value != "9" || row.Default != "45") {
			t.Errorf("%+v", row)
		}
	}
}

func TestTheReferencePageNamesEveryKey(t *testing.T) {
	page := string(Markdown())
	for _, k := range keys {
		if strings.Count(page, "| `"+k.name+"` |") != 1 {
			t.Errorf("%s is not on the page once", k.name)
		}
	}
}

func TestWhatInitWritesHasExactlyTheseCommands(t *testing.T) {
	hq := HQ{Supervisor: Agent{Agent: "claude-code"}, Executor: Agent{Agent: "codex"}}
	for _, commands := range [][]string{
		nil, {}, {"go vet ./..."},
		{`grep -q "a\b" 'c' # x`, "two\nlines", "tab\t\x7f\u2028 ü && <"},
	} {
		c, err := Parse(FileName, Render(Start{Checks: commands}))
		if err != nil {
			t.Fatalf("%v\n%s", err, Render(Start{Checks: commands}))
		}
		want := Default()
		want.Checks.Commands, want.Checks.Sandbox = commands, AutoSandbox
		if diff := cmp.Diff(want, c, sameValues); diff != "" {
			t.Error(diff)
		}
		start := Start{Checks: commands, Setup: `echo "it" && (cd 'a b' && npm ci)`, HQ: hq, Limits: Limits{MaxTaskMinutes: 60, MaxTaskDollars: 5}, Channels: Channels{Desktop: true}}
		if c, err = Parse(FileName, Render(start)); err != nil {
			t.Fatalf("%v\n%s", err, Render(start))
		}
		want.Branches.Setup, want.Limits.MaxTaskMinutes, want.Limits.MaxTaskDollars, want.Channels.Desktop = start.Setup, 60, 5, true
		want.HQ.Supervisor.Agent, want.HQ.Executor.Agent, want.HQ.Sandbox.Mode = "claude-code", "codex", AutoSandbox
		if diff := cmp.Diff(want, c, sameValues); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAListThatWasNeverConfiguredIsPrintedAsNone(t *testing.T) {
	if got := Default().Explain()[0]; got.Key != "checks.commands" || got.Value != "none" {
		t.Errorf("%+v", got)
	}
}
