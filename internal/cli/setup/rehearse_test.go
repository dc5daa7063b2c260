package setup

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
)

// TestAFailedRehearsalNamesWhatIsProbablyMissing, and nothing that the commands had.
func TestAFailedRehearsalNamesWhatIsProbablyMissing(t *testing.T) {
	for _, test := range []struct {
		printed          string
		sandbox, network bool
		want             string // "" for no guess
	}{
		{"getaddrinfo ENOTFOUND registry.npmjs.org", true, false, "network = true"},
		{"dial tcp: lookup x: no such host", true, false, "network = true"},
		{"getaddrinfo ENOTFOUND registry.npmjs.org", true, true, ""},
		{"connect ECONNREFUSED 127.0.0.1:5432", false, true, ""},
		{"Cannot connect to the Docker daemon at unix:///var/run/docker.sock", true, false, "sandbox = \"off\""},
		{"fatal: not a git repository", true, false, "ferrus check"},
		{"expected 1, got 2", true, false, ""},
	} {
		var out bytes.Buffer
		r := engine.Rehearsal{Sandbox: test.sandbox, Network: test.network,
			Checks: checks.Result{Status: checks.Failed, Commands: []checks.Command{{Line: "npm test", ExitCode: 1, Tail: test.printed}}}}
		showRehearsal(&cli.App{Out: &out}, r)
		if guessed := strings.Contains(out.String(), "probably"); guessed != (test.want != "") || !strings.Contains(out.String(), test.want) {
			t.Errorf("%q, %v, %v:\n%s", test.printed, test.sandbox, test.network, out.String())
		}
	}
}

// TestABudgetIsInWhatBothAgentsReport.
func TestABudgetIsInWhatBothAgentsReport(t *testing.T) {
	for _, test := range []struct {
		supervisor, executor string
		want                 config.Limits
	}{
		{"claude-code", "opencode", config.Limits{MaxTaskMinutes: proposedMinutes, MaxTaskDollars: proposedDollars}},
		{"claude-code", "codex", config.Limits{MaxTaskMinutes: proposedMinutes, MaxTaskTokens: proposedTokens}},
		{"claude-code", "goose", config.Limits{MaxTaskMinutes: proposedMinutes}},
		{"", "", config.Limits{MaxTaskMinutes: proposedMinutes, MaxTaskDollars: proposedDollars, MaxTaskTokens: proposedTokens}},
	} {
		hq := config.HQ{Supervisor: config.Agent{Agent: test.supervisor}, Executor: config.Agent{Agent: test.executor}}
		if got := budgets(hq); got != test.want {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}
