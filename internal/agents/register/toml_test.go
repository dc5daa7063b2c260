package register

import (
	"strings"
	"testing"
)

const (
	codexServer = `[mcp_servers.ferrus]
command = "/opt/ferrus/bin/ferrus"
args = ["serve", "--role", "executor", "--agent-name", "codex", "--wait", "100"]
env_vars = VARS
required = true
startup_timeout_sec = 60
tool_timeout_sec = 160
default_tools_approval_mode = "approve"
`
	codexInline = `ferrus = { command = "/opt/ferrus/bin/ferrus", args = ["serve", "--role", "executor", "--agent-name", "codex", ` +
		`"--wait", "100"], env_vars = VARS, required = true, startup_timeout_sec = 60, tool_timeout_sec = 160, ` +
		`default_tools_approval_mode = "approve" }`
	codexShell = "[shell_environment_policy.set]\nFERRUS_AGENT = \"codex\"\n"
)

// TestTOMLKeepsItsCommentsAndItsOrder: as for JSON, each file with what becomes of it. The last column is what is left
// without a record where that is not the file itself.
func TestTOMLKeepsItsCommentsAndItsOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after, bare string }{
		{"a new file", "\x00", "SERVER\nSHELL", "\x01"},
		{"an empty file", "", "SERVER\nSHELL", "\x01"},
		{"other tables", "# mine\nmodel = \"m\" # why\n\n[mcp_servers.a]\ncommand = \"a\"\n\n# the end\n",
			"# mine\nmodel = \"m\" # why\n\n[mcp_servers.a]\ncommand = \"a\"\n\n# the end\n\nSERVER\nSHELL", ""},
		{"no last newline", "[a]\nb = 1", "[a]\nb = 1\n\nSERVER\nSHELL", "[a]\nb = 1\n"},
		{"an array of tables at the end", "[[a]]\nb = 1\n[[a]]\nb = 2\n", "[[a]]\nb = 1\n[[a]]\nb = 2\n\nSERVER\nSHELL", ""},
		{"an inline table of servers", "mcp_servers = { x = { command = \"x\" } } # c\n",
			"mcp_servers = { x = { command = \"x\" }, INLINE } # c\n\nSHELL", ""},
		{"an empty inline table", "mcp_servers = {}\n[b]\nc = 1\n", "mcp_servers = { INLINE }\n[b]\nc = 1\n\nSHELL", "\x02"},
		{"a header with inline servers", "[mcp_servers]\nx = { command = \"x\" }\n",
			"[mcp_servers]\nx = { command = \"x\" }\n\nSERVER\nSHELL", ""},
		{"dotted keys", "mcp_servers.x.command = \"x\"\nshell_environment_policy.set.A = \"b\"\n\n[t]\nk = 1\n",
			"mcp_servers.x.command = \"x\"\nshell_environment_policy.set.A = \"b\"\nshell_environment_policy.set.FERRUS_AGENT = \"codex\"\n\n[t]\nk = 1\n\nSERVER", ""},
		{"quoted keys", "[\"mcp_servers\".'a.b']\ncommand = 'a'\n", "[\"mcp_servers\".'a.b']\ncommand = 'a'\n\nSERVER\nSHELL", ""},
		{"a policy set inline", "[shell_environment_policy]\ninherit = \"all\"\nset = { A = \"b\" }\n\n[z]\n",
			"[shell_environment_policy]\ninherit = \"all\"\nset = { A = \"b\", FERRUS_AGENT = \"codex\" }\n\n[z]\n\nSERVER", ""},
		{"a policy of dotted keys below its header", "[shell_environment_policy]\nset.A = \"b\"\n# end\n",
			"[shell_environment_policy]\nset.A = \"b\"\nset.FERRUS_AGENT = \"codex\"\n# end\n\nSERVER", ""},
		{"a policy without a set", "[shell_environment_policy]\ninherit = \"all\"\n",
			"[shell_environment_policy]\ninherit = \"all\"\n\nSERVER\nSHELL", ""},
		{"a policy set with a header", "[shell_environment_policy.set]\nA = \"b\" # c\n\n[z]\nk = 1\n",
			"[shell_environment_policy.set]\nA = \"b\" # c\nFERRUS_AGENT = \"codex\"\n\n[z]\nk = 1\n\nSERVER", ""},
		{"a policy inline in one", "shell_environment_policy = { set = { A = \"b\" }, inherit = \"all\" }\n",
			"shell_environment_policy = { set = { A = \"b\", FERRUS_AGENT = \"codex\" }, inherit = \"all\" }\n\nSERVER", ""},
		{"strings that look like tables", "a = \"\"\"\n[mcp_servers.ferrus]\n\\\"\"\"\"\nb = '''\n[x]'''\nc = [ # ]\n  \"]\", { d = '}' },\n]\n",
			"a = \"\"\"\n[mcp_servers.ferrus]\n\\\"\"\"\"\nb = '''\n[x]'''\nc = [ # ]\n  \"]\", { d = '}' },\n]\n\nSERVER\nSHELL", ""},
		{"CRLF and a BOM", "\ufeff# c\r\n[a]\r\nd = 1979-05-27 07:32:00 # date\r\nn = nan\r\n", "\ufeff# c\r\n[a]\r\nd = 1979-05-27 07:32:00 # date\r\nn = nan\r\n\r\nCRLF", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const file = ".codex/config.toml"
			var files []string
			if c.before != "\x00" {
				files = []string{file, c.before}
			}
			p := project(t, files...)
			before := tree(t, p)
			register(t, p, "- codex")
			crlf := strings.ReplaceAll(codexServer+"\n"+codexShell, "\n", "\r\n")
			fill := strings.NewReplacer("SERVER", codexServer, "INLINE", codexInline, "SHELL", codexShell, "CRLF", crlf)
			want := strings.ReplaceAll(fill.Replace(c.after), "VARS", tomlText(passed))
			after := tree(t, p)
			equal(t, "after register", after[file], want)
			if plan := register(t, p, "- codex"); !plan.Idle() {
				t.Error("the second run is not idle")
			}
			equal(t, "after the second run", tree(t, p), after)
			register(t, p, "")
			equal(t, "after unregister", tree(t, p), before)

			register(t, p, "- codex")
			forget(t, p)
			register(t, p, "")
			bare := strings.NewReplacer("\x01", "", "\x02", "[b]\nc = 1\n").Replace(c.bare)
			if c.bare == "" {
				bare = c.before
			}
			equal(t, "after unregister without a record", tree(t, p)[file], bare)
		})
	}
}
