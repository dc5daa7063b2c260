package register

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"pgregory.net/rapid"
)

// TestRegisterTwiceIsOnceAndUnregisterBringsBack holds for every file that a person may have: drawn from pieces that are
// laid out in all the ways that clients take.
func TestRegisterTwiceIsOnceAndUnregisterBringsBack(t *testing.T) {
	t.Parallel()
	p := project(t)
	refused := 0
	rapid.Check(t, func(r *rapid.T) {
		name, client, text := ".codex/config.toml", "codex", ""
		if rapid.Bool().Draw(r, "JSON") {
			name = rapid.SampledFrom([]string{".mcp.json", ".claude/settings.local.json"}).Draw(r, "file")
			client, text = rapid.SampledFrom([]string{"claude-code", "claude-code+hooks"}).Draw(r, "client"), drawJSON(r)
		} else {
			text = drawTOML(r)
		}
		if rapid.IntRange(0, 3).Draw(r, "crlf") == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		file := filepath.Join(p.Root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			r.Fatal(err)
		}
		read := func() string {
			got, err := os.ReadFile(file)
			if err != nil {
				r.Fatal(err)
			}
			return string(got)
		}
		run := func(roles string) bool {
			plan, err := p.Plan(who(roles))
			if err != nil {
				refused++ // what is drawn may be no sound TOML
				if read() != text {
					r.Fatalf("refused, and written\n%s", text)
				}
				return false
			}
			if err := plan.Write(); err != nil {
				r.Fatal(err)
			}
			return true
		}
		if run("- " + client) {
			once := read()
			run("- " + client)
			if twice := read(); twice != once {
				r.Fatalf("the second run changes\n%s\nto\n%s", once, twice)
			}
			run(client)
			run("- " + strings.TrimSuffix(client, "+hooks"))
			run("- " + client)
			if back := read(); back != once {
				r.Fatalf("there and back changes\n%s\nto\n%s", once, back)
			}
			run("")
			if got := read(); got != text {
				r.Fatalf("unregister leaves\n%q\nof\n%q", got, text)
			}
			// Without the record comments and meaning stay all the same; Plan itself proves the meaning.
			run("- " + client)
			if err := os.Remove(p.Record); err != nil {
				r.Fatal(err)
			}
			run("")
			if got := read(); strings.Count(got, "note") != strings.Count(text, "note") || strings.Contains(got, exe) {
				r.Fatalf("without a record unregister leaves\n%s\nof\n%s", got, text)
			}
		}
		for _, left := range []string{".mcp.json", ".claude", ".codex", ".agents"} {
			if err := os.RemoveAll(filepath.Join(p.Root, left)); err != nil {
				r.Fatal(err)
			}
		}
	})
	if refused > 60 {
		t.Errorf("%d files were refused: the property is of few", refused)
	}
}

// drawJSON draws an object with the containers that we share, with comments and commas everywhere.
func drawJSON(r *rapid.T) string {
	gap := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\n\t", " // note\n", " /* note */ ", "\n    // note\n    "}).Draw(r, "gap")
	}
	join := func(left string, items []string, right string) string {
		text := left
		for i, item := range items {
			text += gap() + item + gap()
			if i < len(items)-1 || rapid.IntRange(0, 3).Draw(r, "comma") == 0 {
				text += ","
			}
		}
		return text + gap() + right
	}
	list := func(items ...string) string {
		return join("[", items[:rapid.IntRange(0, len(items)).Draw(r, "items")], "]")
	}
	object := func(members ...string) string {
		return join("{", members[:rapid.IntRange(0, len(members)).Draw(r, "members")], "}")
	}
	parts := []string{
		`"mcpServers":` + gap() + object(`"a": {"command": "a"}`, `"b": []`),
		`"permissions": ` + object(`"allow": `+list(`"Bash(ls)"`, `"mcp__a"`), `"deny": []`),
		`"enabledMcpjsonServers": ` + list(`"a"`),
		`"env":` + object(`"A": "b"`),
		`"hooks": ` + object(`"Stop": `+list(`{"hooks": [{"type": "command", "command": "mine"}] /* note */}`, `{"matcher": "a"}`), `"Other": []`),
		`"n": -1.50e3`, `"s": "a // no \" {"`,
	}
	parts = rapid.Permutation(parts).Draw(r, "order")
	bom := rapid.SampledFrom([]string{"", bom}).Draw(r, "bom")
	return bom + gap() + object(parts...) + gap()
}

// drawTOML draws statements of all forms. They may contradict each other.
func drawTOML(r *rapid.T) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"[mcp_servers.a]", "[mcp_servers]", "[shell_environment_policy]", "[shell_environment_policy.set]", "[[list]]", "[\"q.r\".s]", "[z] # note",
		"command = \"a\"", "x = { command = 'x' }", "set = { A = \"b\" } # note", "set.B = \"c\"", "inherit = \"all\"",
		"mcp_servers = { a = { command = 'a' }, }", "mcp_servers = {}", "mcp_servers.a.command = \"a\"", "shell_environment_policy.set.C = \"d\"",
		"shell_environment_policy = { set = {} }", "t = \"\"\"\n[mcp_servers.x]\n# no\n\"\"\"", "l = [ # note\n 1,\n 2 ]", "d = 2026-01-02 03:04:05",
		"# note", "", "   ", "\"quoted key\" = 1",
	}), 0, 7).Draw(r, "lines")
	return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(r, "end")
}

// FuzzTheScanner: what the parser takes is scanned without a panic, each statement lies within the text, and what is
// said to be a value is one.
func FuzzTheScanner(f *testing.F) {
	f.Add("a.b = {c = [1, '''x''']} # c\n[[d.\"e\"]]\nf=\"\"\"\\\"\"\"\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseTOML([]byte(text)); err != nil {
			return
		}
		list, err := scan([]byte(text))
		if err != nil {
			t.Skip() // refused is safe
		}
		last := 0
		for _, st := range list {
			if st.from < last || st.to <= st.from || st.to > len(text) {
				t.Fatalf("%q: %+v", text, st)
			}
			last = st.to
			if st.header {
				continue
			}
			value := text[st.value.from:st.value.to]
			if _, err := toml.Decode("v = ["+value+"]", &struct{ V any }{}); err != nil {
				t.Fatalf("%q: the value %q: %v", text, value, err)
			}
		}
	})
}
