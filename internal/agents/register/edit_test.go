package register

import (
	"strings"
	"testing"
)

const (
	claudeServer = `{
      "command": "/opt/ferrus/bin/ferrus",
      "args": ["serve", "--role", "supervisor", "--agent-name", "claude-code", "--wait", "100"],
      "timeout": 160000,
      "alwaysLoad": true
    }`
	inlineServer = `{"command": "/opt/ferrus/bin/ferrus", "args": ["serve", "--role", "supervisor", "--agent-name", "claude-code", "--wait", "100"], "timeout": 160000, "alwaysLoad": true}`
)

// TestWhatIsNotOursStaysByteForByte: each file with what becomes of it. A second run changes nothing, and unregister
// brings back every byte, with and without the record of what was written (without it, what the last column says).
func TestWhatIsNotOursStaysByteForByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, before, after, bare string }{
		{"a new file", ".mcp.json", "\x00", "{\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }\n}\n", "{}\n"},
		{"an empty file", ".mcp.json", "", "{\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }\n}\n", "{}\n"},
		{"an empty object", ".mcp.json", "{ }", "{\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }\n}", "{}"},
		{"an empty list of servers", ".mcp.json", "{\n  \"mcpServers\": {}\n}\n",
			"{\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }\n}\n", "{}\n"},
		{"other servers", ".mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  },\n  \"z\": 1\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"},\n    \"ferrus\": CLAUDE\n  },\n  \"z\": 1\n}\n", ""},
		{"comments", ".mcp.json", "// top\n{\n  /* one */ \"mcpServers\": {\n    \"a\": {} // last\n    // end\n  } // after\n}\n// bottom",
			"// top\n{\n  /* one */ \"mcpServers\": {\n    \"a\": {}, // last\n    // end\n    \"ferrus\": CLAUDE\n  } // after\n}\n// bottom", ""},
		{"trailing commas", ".mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    \"ferrus\": CLAUDE,\n  },\n}\n", ""},
		{"only a comment", ".mcp.json", "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    // none yet\n    \"ferrus\": CLAUDE\n  }\n}\n", ""},
		{"on one line", ".mcp.json", `{"mcpServers":{"a":{}}}`, `{"mcpServers":{"a":{}, "ferrus": INLINE}}`, ""},
		{"nothing on one line", ".mcp.json", `{"a":1}`, `{"a":1, "mcpServers": {"ferrus": INLINE}}`, ""},
		{"a closing brace that has no line", ".mcp.json", "{\"a\": 1,\n \"b\": 2}",
			"{\"a\": 1,\n \"b\": 2,\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }}", ""},
		{"an escaped key", ".mcp.json", "{\n  \"mcp\\u0053ervers\": {\n    \"a\": {}\n  }\n}\n",
			"{\n  \"mcp\\u0053ervers\": {\n    \"a\": {},\n    \"ferrus\": CLAUDE\n  }\n}\n", ""},
		{"tabs, CRLF and a BOM", ".mcp.json", "\ufeff{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
			"\ufeff{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"ferrus\": TABS\r\n\t}\r\n}\r\n", ""},
		{"a large number and odd strings", ".mcp.json", "{\n  \"n\": 12345678901234567890.50,\n  \"s\": \"a\\/b \\ud83d\\ude00 // no\"\n}\n",
			"{\n  \"n\": 12345678901234567890.50,\n  \"s\": \"a\\/b \\ud83d\\ude00 // no\",\n  \"mcpServers\": {\n    \"ferrus\": CLAUDE\n  }\n}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []string
			if c.before != "\x00" {
				files = []string{c.file, c.before}
			}
			p := project(t, files...)
			before := tree(t, p)
			register(t, p, "claude-code")
			tabs := strings.NewReplacer("\n", "\r\n", "  ", "\t").Replace(claudeServer)
			want := strings.NewReplacer("CLAUDE", claudeServer, "INLINE", inlineServer, "TABS", tabs).Replace(c.after)
			after := tree(t, p)
			equal(t, "after register", after[c.file], want)
			if plan := register(t, p, "claude-code"); !plan.Idle() {
				t.Error("the second run is not idle")
			}
			equal(t, "after the second run", tree(t, p), after)
			register(t, p, "")
			equal(t, "after unregister", tree(t, p), before)

			register(t, p, "claude-code")
			forget(t, p)
			register(t, p, "")
			bare := c.bare
			if bare == "" {
				bare = c.before
			}
			equal(t, "after unregister without a record", tree(t, p)[c.file], bare)
		})
	}
}
