package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// harmless are the keys that make nothing run and widen no right, by table or name. A new key stands here or has a
// sentence in its row.
var harmless = []string{"limits", "server", "lease", "pipelines.tmp_dir", "pipelines.archive_dir", "checks.timeout_secs", "checks.max_log_mb", "deliver.timeout_secs", "hq.executor.continue"}

func TestEveryKeyIsExecutableOrHarmless(t *testing.T) {
	for _, k := range keys {
		listed := slices.Contains(harmless, k.name) || slices.Contains(harmless, k.table()) && !slices.Contains(live, k.name)
		if listed == (k.does != "") {
			t.Errorf("%s: say in its row what it makes run (does), or list it in harmless", k.name)
		}
	}
}

// other is a value of the key that is not its default, as TOML.
func other(k key) string {
	if k.secret {
		return `["ntfy://ntfy.sh/canary"]`
	}
	if k.zone {
		return `"Asia/Tokyo"`
	}
	switch k.def.(type) {
	case int:
		return "31"
	case bool:
		return "true"
	case []string:
		if k.last() == "fallback" {
			return `["gemini:canary"]`
		}
		return `["canary"]`
	case map[string]string:
		return `{ CANARY = "1" }`
	}
	for _, w := range k.words {
		if w != k.def && w != ToCommand {
			return quote(w)
		}
	}
	return `"canary"`
}

func digest(t *testing.T, text string) string {
	t.Helper()
	c, err := Parse(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return trust.Digest(c.Executable())
}

// TestEachExecutableValueCounts: each alone gives another digest, and no harmless one does.
func TestEachExecutableValueCounts(t *testing.T) {
	seen := map[string]string{trust.Digest(nil): "the defaults"}
	for _, k := range keys {
		d := digest(t, k.name+" = "+other(k)+"\n")
		if was, ok := seen[d]; ok == (k.does != "") {
			t.Errorf("%s: the digest is that of %s", k.name, was)
		}
		if k.does != "" {
			seen[d] = k.name
		}
	}
}

// TestOnlyMeaningCounts: what a file says in other words is the same.
func TestOnlyMeaningCounts(t *testing.T) {
	if d := digest(t, ""); d != trust.Digest(nil) || d != trust.Digest(Default().Executable()) {
		t.Errorf("an empty file has the digest %q", d)
	}
	if d := digest(t, string(Example())); d != trust.Digest(nil) {
		t.Errorf("the defaults spelled out have the digest %q", d)
	}
	const text = `[checks]
commands = ["make test", "it's <b>"]
env = { A = "1", B = "2" }
[hq.executor]
agent = "claude-code"
args = ["--model", "x"]
[branches]
setup = "npm ci"
`
	want := digest(t, text)
	for name, same := range map[string]string{
		"order of tables":   "[branches]\nsetup = 'npm ci'\n[hq.executor]\nargs = [\"--model\", \"x\"]\nagent = \"claude-code\"\n[checks]\nenv = { B = \"2\", A = \"1\" }\ncommands = ['make test', \"\"\"it's <b>\"\"\"]\n",
		"comments":          "# a comment\n" + strings.ReplaceAll(text, "\n", " # another\n"),
		"defaults":          text + "on_approve = \"keep\"\n[notify]\ncommand = \"\"\n[deliver]\nto = \"stdout\"\n[hq.supervisor]\nargs = []\n",
		"harmless":          text + "[limits]\nmax_check_retries = 3\n[server]\nwait_timeout_secs = 9\n",
		"dotted":            "checks.commands = [\"make test\", \"it's \\u003Cb>\"]\nchecks.env.A = \"1\"\nchecks.env.B = \"2\"\nhq.executor.agent = \"claude-code\"\nhq.executor.args = [\"--model\", \"x\"]\nbranches.setup = \"npm ci\"\n",
		"windows and a BOM": "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		if d := digest(t, same); d != want {
			t.Errorf("%s: the digest changed", name)
		}
	}
	for name, change := range map[string][2]string{
		"order of commands": {`"make test", "it's <b>"`, `"it's <b>", "make test"`},
		"one blank":         {"npm ci", "npm  ci"},
		"another name":      {"A = ", "a = "},
		"one command":       {`"make test", "it's <b>"`, `"make test it's <b>"`},
		"everything passes": {`["make test", "it's <b>"]`, `[]`},
		"no checks":         {`commands = ["make test", "it's <b>"]`, ``},
	} {
		if d := digest(t, strings.Replace(text, change[0], change[1], 1)); d == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	c := Default()
	c.Checks.Ignore, c.Checks.Env, c.HQ.Executor.Args = nil, nil, nil
	if len(c.Executable()) != 0 {
		t.Errorf("nil is not empty: %v", c.Executable())
	}
}
