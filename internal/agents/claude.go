package agents

import "path/filepath"

// claude is Claude Code.
var claude = Adapter{
	Name:     "claude-code",
	Title:    "Claude Code",
	Program:  "claude",
	Install:  "npm install -g @anthropic-ai/claude-code",
	LogIn:    "claude auth login",
	Wait:     cached,
	Executes: "edits files and runs commands; its edit tools refuse `.ferrus`",
	Reviews:  "reads and searches files; has no tool that edits or runs, and runs no hooks",
	Works:    "edits files and runs commands; its edit tools refuse the files by which ferrus keeps tasks and runs; starts no other agent",
	Speaks:   "reads files, and edits `dialogue.json` alone; has no shell, no network and no other tool",
	Resumes:  true,
	Forks:    true,
	Tokens:   true,
	Dollars:  true,
	Lacks: []string{
		"It loads no settings of the project, so that no hook or helper of a repository runs. It reads `CLAUDE.md` like any other file.",
		"Its commands run without a sandbox: those of an executor can do what you can.",
		"If the ferrus server does not start, it continues without the tools. ferrus notices that in its output only without a terminal.",
		"In your terminal its first answer, within a second, may come before the ferrus server is connected. From the second answer on it has the tools.",
		"After a wait of more than five minutes its provider may read the whole context again instead of from its cache.",
	},
	// A version without that command would take it for a prompt, and must not find a model.
	login:  login{ask: []string{"auth", "status"}, env: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1"}, keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}, file: ".claude/.credentials.json"},
	launch: launchClaude,
	read:   readClaude,
}

// Plugin is the name of the plugin of ferrus in the clients: plugin@marketplace.
const Plugin = "ferrus@ferrus"

// Names of Claude Code's own tools.
const (
	claudeReads  = "Read,Grep,Glob"
	claudeSpeaks = "Read,Edit"
	claudeWrites = "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch"
	// These tools would move the work to a tree that ferrus does not read, or past the end of the
	// session.
	claudeNever = "EnterWorktree,CronCreate,ScheduleWakeup"
	// These tools would let a worker start other agents. Task is the former name of Agent.
	claudeOthers = "Agent,Task,Workflow"
)

func launchClaude(a Adapter, s LaunchSpec) (Launch, error) {
	mcp, settings := s.file("mcp.json"), s.file("settings.json")
	argv := []string{a.Program}
	if s.Headless {
		argv = append(argv, "-p", "--output-format=stream-json", "--verbose")
	}
	argv = append(argv, "--strict-mcp-config", "--mcp-config="+mcp, "--settings="+settings,
		"--setting-sources=user", "--add-dir="+s.Work) // no settings of the project, which may name hooks and other commands
	allowed := "mcp__" + ServerName
	switch {
	case s.Speaks: // its settings allow the edits of one file
		argv = append(argv, "--tools="+claudeSpeaks)
		allowed += ",Read"
	case s.Duty == Worker:
		argv = append(argv, "--disallowedTools="+claudeNever+","+claudeOthers)
	case s.Duty.Writes():
		argv = append(argv, "--disallowedTools="+claudeNever)
	default:
		argv = append(argv, "--tools="+claudeReads)
		allowed += "," + claudeReads
	}
	switch {
	case s.Headless && s.Duty.Writes() && !s.Speaks:
		argv = append(argv, "--permission-mode=acceptEdits")
		allowed += "," + claudeWrites
	case s.Headless:
		// The person's own default might be plan mode, in which approve and reject are held back.
		argv = append(argv, "--permission-mode=dontAsk")
	}
	argv = append(argv, "--allowedTools="+allowed)
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	if s.Session != "" {
		argv = append(argv, "--resume="+s.Session)
	}
	if s.Fork {
		argv = append(argv, "--fork-session")
	}
	server := a.server(s)
	l := Launch{
		Argv: append(argv, s.Args...),
		// A long wait must not move to the background, where the model would miss its answer.
		Env: []string{"MCP_TIMEOUT=60000", "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0", "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1"},
		Files: map[string]string{
			mcp: indented(map[string]any{"mcpServers": map[string]any{ServerName: withEnv(map[string]any{
				"command": server[0], "args": server[1:], "timeout": 1000 * a.limit(), "alwaysLoad": true}, "env", s)}}),
			settings: indented(claudeSettings(s)),
		},
	}
	if s.Headless {
		l.Stdin = s.Prompt
	} else if s.Prompt != "" {
		l.Argv = append(l.Argv, "--", s.Prompt)
	}
	return l, nil
}

// claudeSettings returns settings without a command line option. An agent that only reads runs no
// hooks: the executor could have written them.
func claudeSettings(s LaunchSpec) map[string]any {
	var deny []string
	for _, path := range s.untouched() {
		deny = append(deny, "Edit(/"+filepath.ToSlash(path)+")")
	}
	permissions := map[string]any{"deny": deny}
	if s.Speaks {
		permissions["allow"] = []string{"Edit(/" + filepath.ToSlash(s.Output) + ")"}
	}
	if beyond := s.beyond(); beyond != nil {
		permissions["additionalDirectories"] = beyond
	}
	// The plugin is for sessions of a person: its skills and commands would tell an agent of roles that it does not have.
	conf := map[string]any{"permissions": permissions, "enabledPlugins": map[string]bool{Plugin: false}}
	if !s.Duty.Writes() {
		conf["disableAllHooks"] = true
	}
	return conf
}
