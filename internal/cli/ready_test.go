package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m.Run)) }

// clients are programs of agents, by the folder that a test puts on PATH.
var clients = map[string]map[string]string{
	"none": {},
	"in":   {"claude": `echo '{"loggedIn": true}'`, "codex": "echo 'Logged in using ChatGPT'"},
	"out":  {"claude": `echo '{"loggedIn": false}'; exit 1`, "codex": "echo 'Not logged in'; exit 1"},
	"one":  {"claude": `case "$1" in --version) echo 2.1;; *) echo '{"loggedIn": true}';; esac`},
}

// TestARunThatCannotSucceedIsRefusedWithAllThatStandsInItsWay: each row has the refusals of a project, and lines of their remedies.
func TestARunThatCannotSucceedIsRefusedWithAllThatStandsInItsWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts play the clients")
	}
	const checks, both = "[checks]\ncommands = [\"true\"]\n", "[hq.supervisor]\nagent = \"command\"\ncommand = \"true\"\n[hq.executor]\nagent = \"command\"\ncommand = \"true\"\n"
	const setUp = "[branches]\nsetup = \"make deps\"\n"
	for name, row := range map[string]struct {
		toml, clients string
		git, branches bool
		made          string   // by the set-up of the rehearsal that passed
		want          []string // the beginning of each message
		mend          []string // in the remedies
	}{
		"nothing is wrong":              {toml: checks, clients: "in", git: true, branches: true},
		"commands play the agents":      {toml: checks + both, clients: "none"},
		"checks are none on purpose":    {toml: "[checks]\ncommands = []\n" + both, clients: "none"},
		"no checks":                     {toml: both, clients: "none", want: []string{"no checks are named"}, mend: []string{"commands = [\"make test\"]"}},
		"no repository, and no branch":  {toml: checks + both, clients: "none"},
		"no repository for branches":    {toml: checks + both, clients: "none", branches: true, want: []string{"no git work tree"}, mend: []string{"git init"}},
		"nobody is logged in":           {toml: checks, clients: "out", want: []string{"codex is not logged in", "claude-code is not logged in"}, mend: []string{"log in: codex login", "log in: claude auth login"}},
		"one client is not installed":   {toml: checks, clients: "one", want: []string{"codex is not on PATH"}, mend: []string{"npm install -g @openai/codex", "let claude-code do it", "[hq.executor]"}},
		"no client is installed":        {toml: checks, clients: "none", want: []string{"no agent is installed, and ferrus.toml names none"}, mend: []string{"npm install -g @anthropic-ai/claude-code installs one", "ferrus init then names it"}},
		"one missing client, two roles": {toml: checks + "[hq.supervisor]\nagent = \"goose\"\n[hq.executor]\nagent = \"goose\"\n", clients: "none", want: []string{"goose is not on PATH"}, mend: []string{"[hq.supervisor]", "[hq.executor]"}},
		"a command that is not there": {toml: checks + strings.Replace(both, `"true"`, `"/nope/a"`, 1), clients: "none",
			want: []string{`hq.supervisor.agent in ferrus.toml is "command", and the program /nope/a`}, mend: []string{"correct the command", "[hq.supervisor]"}},
		"checks in a checkout without git": {toml: "[checks]\ncommands = [\"true\"]\nwhere = \"clean\"\n" + both, clients: "none",
			want: []string{`[checks] where = "clean" needs a git repository`}, mend: []string{"git init"}},
		"the set-up has not run here":     {toml: checks + setUp + both, clients: "none", made: "deps", want: []string{"the set-up has not run in this folder"}, mend: []string{"run it: make deps", "--unrehearsed"}},
		"the set-up has run here":         {toml: checks + setUp + both, clients: "none", made: "ferrus.toml"},
		"the set-up runs for each branch": {toml: checks + setUp + both, clients: "none", git: true, branches: true, made: "deps"},
		"the set-up runs for each check":  {toml: checks + "where = \"clean\"\n" + setUp + both, clients: "none", git: true, made: "deps"},
		"another set-up was tried":        {toml: checks + setUp + both, clients: "none", made: "deps of another"},
		"everything at once": {toml: "", clients: "none", branches: true,
			want: []string{"no checks are named", "no git work tree", "no agent is installed"}, mend: []string{"[checks]", "git init", "@anthropic-ai/claude-code"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := enginetest.Plain(t, row.toml)
			if row.git {
				m.Commits()
			}
			bin := filepath.Join(m.Side, "bin")
			for program, does := range clients[row.clients] {
				if err := os.MkdirAll(bin, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			e, err := engine.Open(project.At(m.Dir, ""), m.Opts)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			conf, err := e.Config()
			if err != nil {
				t.Fatal(err)
			}
			if of, another := strings.CutSuffix(row.made, " of another"); row.made != "" {
				r := project.Rehearsal{Config: conf.Rehearsed(), Passed: true, Made: []string{of}, At: e.Now()}
				if another {
					r.Config = "another"
				}
				if err := e.Place().Rehearsed(r); err != nil {
					t.Fatal(err)
				}
			}
			err = CheckReady(t.Context(), e, conf.Gate(), row.branches)
			var all []*refusal.RefusedError
			if r := refusal.Of(err); r != nil {
				all = r.Each()
			}
			if (err == nil) != (len(row.want) == 0) || len(all) != len(row.want) {
				t.Fatalf("%d refusals, not %d: %v", len(all), len(row.want), err)
			}
			remedies := ""
			for i, each := range all {
				if !strings.HasPrefix(each.Message, row.want[i]) || each.Remedy == "" {
					t.Errorf("refusal %d is %q, not %q", i, each.Error(), row.want[i])
				}
				remedies += each.Remedy.String() + "\n"
			}
			for _, line := range row.mend {
				if !strings.Contains(remedies, line) {
					t.Errorf("no remedy says %q:\n%s", line, remedies)
				}
			}
		})
	}
}
