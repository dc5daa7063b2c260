package agents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// foreign are patterns of variables that no agent inherits: those that make an agent believe that
// it runs inside another one, those of a git hook that started `ferrus run`, those of another trace, and those of
// another ferrus.
var foreign = []string{
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_CHILD_*",
	"CLAUDE_CODE_MESSAGING_*", "CLAUDE_CODE_LAUNCHED_BY_*", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "CLAUDE_PID",
	"CLAUDE_EFFORT", "AI_AGENT",
	"CODEX_SANDBOX*", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_INTERNAL_*", "CODEX_MANAGED_*",
	"CODEX_CI", "CODEX_VERSION", "CODEX_APPLY_PATCH_*",
	"GEMINI_CLI", "GEMINI_CLI_HOME", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE",
	"QWEN_CODE", "QWEN_CODE_AGENT_ID", "QWEN_CODE_CLI", "QWEN_CODE_LAUNCHER_PID", "QWEN_CODE_MANAGED_*",
	"QWEN_CODE_MODEL*", "QWEN_CODE_NO_RELAUNCH", "QWEN_CODE_PRIVATE_*", "QWEN_CODE_PROJECT_DIR", "QWEN_CODE_PROMPT_ID",
	"QWEN_CODE_SESSION_ID", "QWEN_CODE_STARTUP_VERSION", "QWEN_CODE_SYSTEM_SETTINGS_PATH",
	"OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_SERVER*", "OPENCODE_CONFIG_CONTENT", "AGENT", "GOOSE_TERMINAL",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"TRACEPARENT", "TRACESTATE",
	"FERRUS_*",
}

// ours are variables of ferrus that every agent inherits and passes to its server, so that the
// server finds the same records and the same configuration of the person.
var ours = []string{"FERRUS_STATE_DIR", "FERRUS_TRUST", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}

// handed returns the variables among ours that are set in an environment, for clients that start
// servers in an environment of their own.
func handed(env []string) map[string]string {
	set := map[string]string{}
	for _, name := range ours {
		if value := proc.Lookup(env, name); value != "" {
			set[name] = value
		}
	}
	return set
}

// inherited returns the variables of an environment that an agent gets, followed by added.
func inherited(env, added []string) []string {
	return append(proc.Without(outsideOf(env), proc.Withheld), added...)
}

// outsideOf returns an environment without the foreign variables.
func outsideOf(env []string) []string {
	out := make([]string, 0, len(env))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(ours, name) || !proc.Matches(foreign, name) {
			out = append(out, entry)
		}
	}
	return out
}

// secret are variables that a client does not pass to our server by name: the same that are hidden
// from the checks by default.
var secret = []string{"ANTHROPIC_*", "OPENAI_*", "*_API_KEY", "*_TOKEN"}

// variable matches names that every client accepts for a variable.
var variable = safetext.Lazily(`^[A-Za-z_][A-Za-z0-9_]*$`)

// passed returns the names in an environment that our server needs, for itself and its checks, if a
// client passes only listed variables.
func passed(env []string) []string {
	var names []string
	for _, entry := range inherited(env, nil) {
		name, _, _ := strings.Cut(entry, "=")
		if variable().MatchString(name) && !proc.Matches(secret, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// homeOf returns a person's home folder, by the system's variable for it.
func homeOf(env []string) string {
	return cmp.Or(proc.Lookup(env, "HOME"), proc.Lookup(env, "USERPROFILE"))
}
