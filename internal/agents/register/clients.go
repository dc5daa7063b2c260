package register

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A client is one agent's side of this: which of its files say what.
type client struct {
	name   string
	files  []file
	skills string // the folder in which it looks for a project's skills; "" when it reads none
	trust  string // what a person must do before the client reads the files, if anything
	apart  bool   // it starts a server of these files beside that of a plugin with the same name
}

// A file is one that a client reads in a project.
type file struct {
	path   string // relative to the project, with slashes
	or     string // is taken in its place, if it alone exists
	own    string // a key that the client itself puts into the file
	format format
	hooks  bool // it may have our hooks: a person's own file, which is not committed
	bits   func(Project, assignment) []bit
}

// A format is how a kind of file is read and edited. The functions change nothing in the text that they are given.
type format struct {
	parse  func(text []byte) (map[string]any, error)
	line   func(text []byte, path []string) int
	insert func(text []byte, path []string, v value, item bool) ([]byte, error)
	remove func(text []byte, path []string, item func(v any) bool, kept func(path []string) bool) ([]byte, error)
	empty  string // what a file is begun with
}

// A bit is one thing of ours in a file.
type bit struct {
	path  []string
	value value
	item  bool // the value is one of the list at the path: a string, or what ours knows
	shy   bool // is written only where nothing stands, and taken out only if we know that we wrote it
	fresh bool // is written only into a file that we make; implies shy
	off   bool // is taken out, and not written

	ours func(v any) bool // knows an item of ours by what it runs
}

// An assignment is the role that one client gets.
type assignment struct {
	agents.Adapter
	role  agents.Duty
	model string
	hooks bool
}

// clients are those that have files of their own in a project. For the other agents there is nothing to write.
var clients = []client{
	{name: "claude-code", skills: ".claude/skills", apart: true,
		trust: "say yes when it asks whether you trust this folder; and keep .claude/settings.local.json out of git, or " +
			"`claude -p` has no permission until you did",
		files: []file{
			{path: ".mcp.json", format: jsonFormat, bits: func(p Project, a assignment) []bit {
				return []bit{{path: []string{"mcpServers", agents.ServerName}, value: append(p.server(a),
					entry{"timeout", 1000 * limit(a)}, entry{"alwaysLoad", true})}}
			}},
			{path: ".claude/settings.local.json", format: jsonFormat, hooks: true, bits: func(p Project, a assignment) []bit {
				return append([]bit{
					{path: []string{"permissions", "allow"}, value: "mcp__" + agents.ServerName, item: true},
					{path: []string{"enabledMcpjsonServers"}, value: agents.ServerName, item: true},
					// The agent alone: the variable also reaches sessions that were given the other role by ferrus open or run.
					{path: []string{"env", "FERRUS_AGENT"}, value: a.Name},
					{path: []string{"model"}, value: a.model, shy: true},
				}, hooks(p, a)...)
			}},
		}},
	{name: "codex", skills: ".agents/skills",
		trust: "it reads .codex/config.toml only in a folder that you trust: say yes when it asks; without a terminal, " +
			"start it once as `codex exec --trust`",
		files: []file{
			{path: ".codex/config.toml", format: tomlFormat, bits: func(p Project, a assignment) []bit {
				return []bit{
					{path: []string{"mcp_servers", agents.ServerName}, value: append(p.server(a),
						entry{"env_vars", passed}, entry{"required", true}, entry{"startup_timeout_sec", 60},
						entry{"tool_timeout_sec", limit(a)}, entry{"default_tools_approval_mode", "approve"})},
					{path: []string{"shell_environment_policy", "set", "FERRUS_AGENT"}, value: a.Name},
					{path: []string{"model"}, value: a.model, shy: true},
				}
			}},
		}},
	{name: "qwen-code", skills: ".qwen/skills",
		trust: "it starts a project's server only when you have approved it: say yes when it asks; without a terminal, " +
			"run `qwen mcp approve " + agents.ServerName + "`",
		files: []file{{path: ".qwen/settings.json", own: "$version", format: jsonFormat, bits: settings}}},
	{name: "gemini", skills: ".agents/skills",
		trust: "it reads .gemini/settings.json only in a folder that you trust: say yes when it asks",
		files: []file{{path: ".gemini/settings.json", format: jsonFormat, bits: settings}}},
	{name: "opencode", skills: ".agents/skills", files: []file{
		{path: "opencode.json", or: "opencode.jsonc", format: jsonFormat, bits: func(p Project, a assignment) []bit {
			return []bit{
				{path: []string{"$schema"}, value: "https://opencode.ai/config.json", fresh: true, shy: true},
				{path: []string{"mcp", agents.ServerName}, value: table{{"type", "local"},
					{"command", append([]string{p.Exe}, args(a)...)}, {"enabled", true}, {"timeout", 1000 * limit(a)}}},
				{path: []string{"model"}, value: a.model, shy: true},
			}
		}},
	}},
}

// settings are the bits of Gemini and of its descendant.
func settings(p Project, a assignment) []bit {
	return []bit{
		{path: []string{"mcpServers", agents.ServerName}, value: append(p.server(a),
			entry{"timeout", 1000 * limit(a)}, entry{"trust", true})},
		{path: []string{"model", "name"}, value: a.model, shy: true},
	}
}

// server is the command of our MCP server in the form that most clients share.
func (p Project) server(a assignment) table { return table{{"command", p.Exe}, {"args", args(a)}} }

// args are the arguments of our server. The project is not among them: the server finds it from the folder in which the
// client works. So an entry also holds in a linked work tree, where it means the machine of that work tree, and in the
// checkout of another person who gets the file, if it is committed.
func args(a assignment) []string { return append([]string{"serve"}, Flags(a.Adapter, a.role)...) }

// Flags returns the flags of the server of a client that a person opens in the role.
func Flags(a agents.Adapter, role agents.Duty) []string {
	return []string{"--role", string(role), "--agent-name", a.Name, "--wait", strconv.Itoa(wait(a))}
}

// wait is how many seconds one call may wait. With a person at the client that is not as long as the client would bear:
// Claude Code moves a call of two minutes into the background, and every client shows nothing meanwhile.
func wait(a agents.Adapter) int { return min(a.Wait, 100) }

// limit is how many seconds a client must give one call: the longest wait, and time for a slow machine.
func limit(a assignment) int { return wait(a.Adapter) + 60 }

// passed are variables that Codex is to hand on to our server, which runs the checks: it hands on no others. The list is
// the same for each person who registers, so that a file which is committed does not change with them; what else the checks need
// goes into ferrus.toml, checks.env.
var passed = []string{"SHELL", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "FERRUS_STATE_DIR",
	"XDG_DATA_HOME", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "CI",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOPRIVATE", "GOFLAGS", "GOTOOLCHAIN",
	"CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PNPM_HOME", "VIRTUAL_ENV", "PYENV_ROOT", "UV_CACHE_DIR",
	"DOCKER_HOST", "LOCALAPPDATA", "APPDATA", "USERPROFILE", "PROGRAMFILES", "SYSTEMROOT", "COMSPEC", "PATHEXT"}

// place is where the file is in a project, relative to it.
func (f file) place(root string) string {
	if f.or != "" && !exists(filepath.Join(root, f.path)) && exists(filepath.Join(root, f.or)) {
		return f.or
	}
	return f.path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Files reports whether the agent has files of its own in a project, so that there is something to register.
func Files(agent string) bool {
	return slices.ContainsFunc(clients, func(c client) bool { return c.name == agent })
}
