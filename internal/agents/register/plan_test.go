package register

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestAFileThatCannotBeUnderstoodStopsEverything: the fault names file, line and remedy, and no file is written.
func TestAFileThatCannotBeUnderstoodStopsEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, want string }{
		{"no JSON", ".mcp.json", "{\n  \"a\": ferrus\n}", ".mcp.json:2: it is not valid JSON: "},
		{"an unfinished object", ".mcp.json", "{\n\"a\": 1", ".mcp.json:3: it is not valid JSON: "},
		{"a list", ".mcp.json", "\n[]", ".mcp.json:2: it is no JSON object"},
		{"servers that are a list", ".mcp.json", "{\n\"mcpServers\":\n[]}", ".mcp.json:3: mcpServers is no object"},
		{"servers that are null", ".mcp.json", `{"mcpServers": null}`, ".mcp.json:1: mcpServers is no object"},
		{"a key twice", ".mcp.json", "{\"mcpServers\": {},\n\"mcpServers\": {}}", ".mcp.json:2: \"mcpServers\" stands there twice"},
		{"a server of theirs", ".mcp.json", "{\"mcpServers\": {\n\"ferrus\": {\"command\": \"/usr/bin/docker\", \"args\": [\"run\"]}}}",
			".mcp.json:2: there is a server ferrus that is not ours"},
		{"ferrus, but not its server", ".mcp.json", `{"mcpServers": {"ferrus": {"command": "ferrus", "args": ["mcp"]}}}`,
			".mcp.json:1: there is a server ferrus that is not ours"},
		{"a server by URL", ".mcp.json", `{"mcpServers": {"ferrus": {"url": "http://127.0.0.1:1/"}}}`,
			".mcp.json:1: there is a server ferrus that is not ours"},
		{"a server that is a number", ".mcp.json", `{"mcpServers": {"ferrus": 1}}`, ".mcp.json:1: there is a server ferrus that is not ours"},
		{"allowed that is no list", ".claude/settings.local.json", "{\n\"permissions\": {\"allow\": \"all\"}}",
			".claude/settings.local.json:2: permissions.allow is no list"},
		{"no TOML", ".codex/config.toml", "a = 1\nb = [\n", ".codex/config.toml:2: it is no TOML: "},
		{"lists in lists", ".mcp.json", strings.Repeat("[", 1<<20), ".mcp.json:1: it has too many brackets"},
		{"tables in tables", ".codex/config.toml", "a = " + strings.Repeat("{a=", 1<<20), ".codex/config.toml:1: it has too many brackets"},
		{"a table twice", ".codex/config.toml", "[mcp_servers.ferrus]\ncommand = 'ferrusd'\n[mcp_servers.ferrus]\n", ".codex/config.toml:3: it is no TOML: "},
		{"their server in TOML", ".codex/config.toml", "# c\n[mcp_servers.ferrus]\ncommand = 'npx'\n",
			".codex/config.toml:2: there is a server ferrus that is not ours"},
		{"their server inline", ".codex/config.toml", "\nmcp_servers = { ferrus = { command = 'npx' } }\n",
			".codex/config.toml:2: there is a server ferrus that is not ours"},
		{"servers that are an array of tables", ".codex/config.toml", "[[mcp_servers]]\n", ".codex/config.toml:1: it is laid out in a way"},
		{"a set that is no table", ".codex/config.toml", "shell_environment_policy.set = 1\n", ".codex/config.toml:1: it is laid out in a way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, c.file, c.text)
			before := tree(t, p)
			_, err := p.Plan(who("claude-code codex"))
			var fault *refusal.RefusedError
			if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), c.want) || fault.Remedy == "" {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			equal(t, "files", tree(t, p), before)
			if strings.Contains(c.text, "ferrus") {
				return
			}
			// Of clients that are not concerned it is none of our business.
			if _, err := p.Plan(who("- opencode")); err != nil {
				t.Errorf("for another client: %v", err)
			}
		})
	}
}

func TestAServerOfTheirsIsNotTakenOut(t *testing.T) {
	t.Parallel()
	p := project(t, ".mcp.json", `{"mcpServers": {"ferrus": {"command": "docker"}}}`)
	before := tree(t, p)
	if plan := register(t, p, ""); !plan.Idle() {
		t.Error("something changes")
	}
	register(t, p, "- codex")
	register(t, p, "")
	equal(t, "files", tree(t, p), before)
}

// TestARoleMovesFromClientToClient: there is one entry a client, and who has no role has none.
func TestARoleMovesFromClientToClient(t *testing.T) {
	t.Parallel()
	p := project(t)
	has := func(name, what string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(p.Root, name))
		if (what == "") != errors.Is(err, os.ErrNotExist) || !strings.Contains(string(text), what) || strings.Count(string(text), "--role") > 1 {
			t.Errorf("%s lacks %q, or has it twice: %v\n%s", name, what, err, text)
		}
	}
	register(t, p, "claude-code codex")
	has(".mcp.json", "supervisor")
	has(".codex/config.toml", "executor")

	register(t, p, "codex claude-code")
	has(".mcp.json", "executor")
	has(".codex/config.toml", "supervisor")
	has(".claude/skills/ferrus-supervisor/SKILL.md", "")
	has(".claude/skills/ferrus-executor/SKILL.md", "how to execute")
	has(".agents/skills/ferrus-supervisor/SKILL.md", "how to supervise")

	plan := register(t, p, "claude-code claude-code")
	has(".mcp.json", "supervisor")
	has(".codex/config.toml", "")
	has(".agents/skills/ferrus-supervisor/SKILL.md", "")
	has(".claude/skills/ferrus-supervisor/SKILL.md", "how to supervise")
	has(".claude/skills/ferrus-executor/SKILL.md", "how to execute")
	if notes := strings.Join(plan.Notes, "\n"); !strings.Contains(notes, "`ferrus open executor`") {
		t.Errorf("nothing says how to open the other role:\n%s", notes)
	}
	found, err := p.Registered()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "both roles", found, who("claude-code claude-code"))

	register(t, p, "- claude-code")
	has(".mcp.json", "executor")
	register(t, p, "")
	equal(t, "files in the end", tree(t, p), map[string]string{"./": ""})
	if exists(p.Record) {
		t.Error("the record is still there")
	}
}

// TestEveryClientIsRegisteredAndTakenOut: each in both roles, with a model; its file says so, and all of it goes.
func TestEveryClientIsRegisteredAndTakenOut(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		for _, role := range roles {
			p := project(t)
			want := map[agents.Duty]Assignment{role: {Agent: c.name, Model: "some/model"}}
			plan, err := p.Plan(want)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Write(); err != nil {
				t.Fatal(err)
			}
			found, err := p.Registered()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, c.name+" as "+string(role), found, want)
			all := ""
			for name, text := range tree(t, p) {
				all += name + "\n" + text
			}
			for _, part := range []string{"some/model", `"` + string(role) + `"`, `"` + c.name + `"`, exe, "SKILL.md"} {
				if !strings.Contains(all, part) {
					t.Errorf("%s as %s: nothing says %s\n%s", c.name, role, part, all)
				}
			}
			forget(t, p)
			found, err = p.Registered()
			if err != nil || found[role].Agent != c.name {
				t.Errorf("%s as %s without the record: %v, %v", c.name, role, found, err)
			}
			if err := plan.Write(); err == nil {
				t.Errorf("%s: a plan is carried out twice", c.name)
			}
			again, err := p.Plan(map[agents.Duty]Assignment{role: {Agent: c.name, Model: "some/model"}})
			if err != nil || !again.Idle() {
				t.Errorf("%s as %s: a second run without the record is not idle: %v", c.name, role, err)
			}
		}
	}
	p := project(t)
	plan := register(t, p, "goose command")
	equal(t, "files of goose and of a command", tree(t, p), map[string]string{"./": ""})
	for i, c := range plan.Changes {
		if want := "`ferrus open " + string(roles[i]) + "`"; c.File != "" || !strings.Contains(c.Note, want) {
			t.Errorf("%v lacks %s", c, want)
		}
	}
	if _, err := p.Plan(who("clippy")); err == nil {
		t.Error("an agent that does not exist is registered")
	}
}

// TestAModelOfTheirsStays: ours is written where there is none, and replaced while it is ours.
func TestAModelOfTheirsStays(t *testing.T) {
	t.Parallel()
	const settings = ".claude/settings.local.json"
	p := project(t, settings, "{\n  \"model\": \"theirs\"\n}\n")
	before := tree(t, p)
	plan := register(t, p, "claude-code:ours")
	noted := false
	for _, c := range plan.Changes {
		noted = noted || strings.Contains(c.Note, "`ours` was not written")
	}
	if !noted || !strings.Contains(tree(t, p)[settings], `"model": "theirs"`) {
		t.Errorf("noted: %v\n%s", noted, tree(t, p)[settings])
	}
	register(t, p, "")
	equal(t, "files", tree(t, p), before)

	p = project(t)
	for _, model := range []string{"one", "two"} {
		register(t, p, "claude-code:"+model)
		if text := tree(t, p)[settings]; !strings.Contains(text, `"model": "`+model+`"`) || strings.Count(text, "model") != 1 {
			t.Errorf("after %s:\n%s", model, text)
		}
	}
	edit(t, p, settings, "two", "theirs now")
	register(t, p, "claude-code:three")
	register(t, p, "")
	equal(t, "what is theirs", tree(t, p)[settings], "{\n  \"model\": \"theirs now\"\n}\n")
}

// TestWhatAPersonAddsMeanwhileIsTheirs: after an edit the file is no longer as we left it, and still only ours goes.
func TestWhatAPersonAddsMeanwhileIsTheirs(t *testing.T) {
	t.Parallel()
	p := project(t, ".codex/config.toml", "[a]\nb = 1\n")
	register(t, p, "claude-code codex")
	edit(t, p, ".codex/config.toml", "[mcp_servers.ferrus]\n", "# about ferrus\n[mcp_servers.ferrus]\n# a remark\nenabled = true\n")
	edit(t, p, ".codex/config.toml", "[shell_environment_policy.set]\n", "[[z]]\nk = 1\n\n[shell_environment_policy.set]\nMY = \"own\"\n")
	edit(t, p, ".mcp.json", "\"mcpServers\": {\n", "\"mcpServers\": {\n    \"a\": {},\n")
	edit(t, p, ".claude/settings.local.json", "\"mcp__ferrus\"", "\"mcp__ferrus\", \"Bash(ls)\"")
	edit(t, p, ".claude/skills/ferrus-supervisor/SKILL.md", "how", "my own how")
	register(t, p, "")
	equal(t, "files", tree(t, p), map[string]string{"./": "",
		".codex/": "", ".codex/config.toml": "[a]\nb = 1\n\n# about ferrus\n# a remark\n\n[[z]]\nk = 1\n\n[shell_environment_policy.set]\nMY = \"own\"\n",
		".mcp.json": "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
		".claude/":  "", ".claude/settings.local.json": "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"]\n  }\n}\n",
		".claude/skills/": "", ".claude/skills/ferrus-supervisor/": "", ".claude/skills/ferrus-supervisor/SKILL.md": "my own how to supervise\n"})
}

// TestWhatTheyHadBeforeUsIsTheirs, though it is the very thing that we would write.
func TestWhatTheyHadBeforeUsIsTheirs(t *testing.T) {
	t.Parallel()
	const settings = ".claude/settings.local.json"
	const theirs = "{\n  \"permissions\": {\n    \"allow\": [\"mcp__ferrus\"]\n  },\n  \"env\": {}\n}\n"
	p := project(t, settings, theirs)
	register(t, p, "claude-code")
	edit(t, p, settings, "{\n", "{\n  \"a\": 1,\n") // from here on the bytes alone do not tell
	register(t, p, "")
	equal(t, "the file", tree(t, p)[settings], strings.Replace(theirs, "{\n", "{\n  \"a\": 1,\n", 1))

	p = project(t, ".codex/config.toml", "[shell_environment_policy.set]\n# nothing yet\n")
	register(t, p, "codex")
	edit(t, p, ".codex/config.toml", "yet", "today")
	register(t, p, "")
	equal(t, "the file", tree(t, p)[".codex/config.toml"], "[shell_environment_policy.set]\n# nothing today\n")
}

// TestAnEmptiedFileThatWeMadeGoes, though it is not as we left it.
func TestAnEmptiedFileThatWeMadeGoes(t *testing.T) {
	t.Parallel()
	p := project(t)
	register(t, p, "claude-code codex")
	edit(t, p, ".mcp.json", "160000", "170000")
	edit(t, p, ".codex/config.toml", "160", "170")
	register(t, p, "")
	equal(t, "files", tree(t, p), map[string]string{"./": ""})

	// Qwen Code puts a key of its own into the file when it starts.
	register(t, p, "qwen-code")
	edit(t, p, ".qwen/settings.json", "{\n", "{\n  \"$version\": 4,\n")
	if plan := register(t, p, "qwen-code"); !plan.Idle() {
		t.Error("the client's own key makes a difference")
	}
	register(t, p, "")
	equal(t, "files", tree(t, p), map[string]string{"./": ""})
}

// TestOpencodeHasOneOfTwoFiles: the one with comments, if it alone exists.
func TestOpencodeHasOneOfTwoFiles(t *testing.T) {
	t.Parallel()
	p := project(t, "opencode.jsonc", "{\n  // mine\n  \"theme\": \"x\",\n}\n")
	register(t, p, "opencode")
	if files := tree(t, p); !strings.Contains(files["opencode.jsonc"], "ferrus") || files["opencode.json"] != "" ||
		strings.Contains(files["opencode.jsonc"], "$schema") {
		t.Errorf("%v", files)
	}
	register(t, p, "")
	equal(t, "the file", tree(t, p)["opencode.jsonc"], "{\n  // mine\n  \"theme\": \"x\",\n}\n")
}

// edit replaces a text in a file.
func edit(t *testing.T, p Project, name, old, with string) {
	t.Helper()
	name = filepath.Join(p.Root, name)
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q: %v\n%s", name, old, err, text)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, with, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
