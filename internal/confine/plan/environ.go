package plan

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/environ"
	"github.com/ferrus-go/ferrus/internal/sandbox/toolchain"
)

// outside are patterns of variables that name what an executor in a sandbox does not reach, or what ferrus sets: the settings of
// clients and tools elsewhere, sockets, and ferrus's own records.
var outside = []string{
	"HOME", "TMPDIR", "TMP", "TEMP", "XDG_*", "FERRUS_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GNUPGHOME",
	"DBUS_*", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY", "DOCKER_HOST", "KUBECONFIG",
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
	"GIT_CONFIG*", "GIT_SSH*", "GIT_ASKPASS", "SSH_ASKPASS", "GOCACHE", "GOENV", "GOBIN", "GOTELEMETRY*", "GOMODCACHE", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "npm_config_*", "NPM_CONFIG_*", "HISTFILE",
}

// clientEnv is the environment of a client in a sandbox: that of others without what leads outside. What Go has downloaded into the
// home folder of the person can be read there, and the tool chains of rustup.
func clientEnv(others []string, home, temp, person string) []string {
	var env []string
	for _, entry := range others {
		name, _, _ := strings.Cut(entry, "=")
		if !environ.Matches(outside, name) {
			env = append(env, entry)
		}
	}
	return append(env, "HOME="+home, "TMPDIR="+temp, "GOMODCACHE="+toolchain.Modules(person), "GOTELEMETRY=off", "RUSTUP_HOME="+toolchain.Rustup(person))
}
