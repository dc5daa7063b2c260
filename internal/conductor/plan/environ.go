package plan

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
)

// outside are patterns of variables that name what an executor in a sandbox does not reach, or what ferrus sets: the settings of
// clients and tools elsewhere, sockets, and ferrus's own records.
var outside = []string{
	"HOME", "TMPDIR", "TMP", "TEMP", "XDG_*", "FERRUS_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GNUPGHOME",
	"DBUS_*", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY", "DOCKER_HOST", "KUBECONFIG",
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
	"GIT_CONFIG*", "GIT_SSH*", "GIT_ASKPASS", "SSH_ASKPASS", "GOCACHE", "GOENV", "GOBIN", "GOTELEMETRY*", "GOMODCACHE", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "npm_config_*", "NPM_CONFIG_*", "HISTFILE",
}

// A client is what every client in a sandbox has, of an executor and of a login.
type client struct {
	read    []string // the tools on its PATH
	deny    []string // what is tried from inside before it starts
	environ []string
}

// client returns what a client in a sandbox has that would have the environment others without one: its own is that without what
// leads outside. What Go has downloaded into the home folder of the person can be read there, and the tool chains of rustup. machine
// is the folder of the task's machine; home and temp are the client's folders.
func (p protected) client(machine string, others []string, home, temp string) client {
	c := client{read: sandbox.Folders(proc.Lookup(others, "PATH"), p.home, sandbox.System().Read), deny: p.deny(machine)}
	c.environ = append(proc.Without(others, slices.Concat(outside, proc.Withheld)), "HOME="+home, "TMPDIR="+temp, "GOMODCACHE="+sandbox.Modules(p.home), "GOTELEMETRY=off", "RUSTUP_HOME="+sandbox.Rustup(p.home))
	return c
}
