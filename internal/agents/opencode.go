package agents

import "path/filepath"

// opencode is the agent of that name.
var opencode = Adapter{
	Name:     "opencode",
	Title:    "opencode",
	Program:  "opencode",
	Install:  "npm install -g opencode-ai",
	Wait:     240,
	Executes: "edits files and runs commands",
	Reviews:  "reads and searches files; has no tool that edits or runs",
	Works:    "edits files and runs commands; starts no other agent",
	Speaks:   "reads and edits files; has no shell, no network and no other tool",
	Settings: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc",
		".opencode/plugin", ".opencode/plugins", ".opencode/tool", ".opencode/tools"},
	Tokens:  true,
	Dollars: true,
	Lacks: []string{
		"Other MCP servers of your configuration are started; their tools are hidden while its agent is `ferrus-...`.",
		"It does not report that the ferrus server failed to start. When its provider limits it, it waits silently.",
		"Its commands run without a sandbox: those of an executor can do what you can.",
	},
	login:  login{keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"}, file: ".local/share/opencode/auth.json"},
	launch: launchOpencode,
	read:   readOpencode,
}

func launchOpencode(a Adapter, s LaunchSpec) (Launch, error) {
	agent := "ferrus-" + string(s.Duty)
	conf := map[string]any{
		"mcp": map[string]any{ServerName: withEnv(map[string]any{
			"type": "local", "command": a.server(s), "enabled": true, "timeout": 1000 * a.limit()}, "environment", s)},
		"agent": map[string]any{agent: map[string]any{"mode": "primary", "permission": opencodeMay(s)}},
	}
	argv := []string{a.Program}
	if s.Headless {
		argv = append(argv, "run", "--format=json")
	}
	argv = append(argv, "--agent="+agent)
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	l := Launch{Argv: append(argv, s.Args...), Env: []string{"OPENCODE_CONFIG_CONTENT=" + compact(conf)}}
	if s.Headless {
		l.Stdin = s.Prompt
	} else if s.Prompt != "" {
		l.Argv = append(l.Argv, "--prompt="+s.Prompt)
	}
	return l, nil
}

// opencodeMay returns the permissions of the agent. The last matching rule counts, so "*" must come
// first, as it does in JSON that Go writes. In the person's own table of permissions the order
// might differ; therefore ferrus defines an agent of its own.
func opencodeMay(s LaunchSpec) map[string]any {
	may := map[string]any{"*": "deny", ServerName + "_*": "allow"}
	for _, tool := range []string{"read", "list", "glob", "grep", "todoread", "todowrite"} {
		may[tool] = "allow"
	}
	if !s.Duty.Writes() {
		may["external_directory"] = map[string]any{"*": "deny", filepath.Join(s.state(), "*"): "allow"}
		return may
	}
	if s.Speaks {
		may["edit"], may["external_directory"] = "allow", map[string]any{"*": "deny", filepath.Join(s.Run, "*"): "allow"}
		return may
	}
	unasked := "ask"
	if s.Headless {
		unasked = "allow"
	}
	for _, tool := range []string{"edit", "bash", "task", "skill", "webfetch", "websearch", "external_directory"} {
		may[tool] = unasked
	}
	if s.Duty == Worker {
		delete(may, "task") // with it a worker would start others
	}
	return may
}
