package agents

import "github.com/ferrus-go/ferrus/internal/platform/proc"

// qwen is Qwen Code.
var qwen = Adapter{
	Name:     "qwen-code",
	Title:    "Qwen Code",
	Program:  "qwen",
	Install:  "npm install -g @qwen-code/qwen-code",
	Wait:     240,
	Executes: "edits files and runs commands (`yolo`)",
	Reviews:  "reads and searches files; what edits or runs is refused, and it runs no hooks",
	Works:    "edits files and runs commands (`yolo`); starts no other agent",
	Speaks:   "reads and edits files; has no shell, no network and no other tool",
	Settings: []string{".qwen/settings.json", ".qwen/.env", ".qwen/extensions"},
	Tokens:   true,
	Lacks: []string{
		"Its commands run without a sandbox: those of an executor can do what you can.",
		"ferrus replaces its machine-wide settings file: those settings do not apply in the session.",
		"When its provider limits it for long, it waits silently.",
		"It does not report its cost.",
	},
	login:  login{keys: []string{"OPENAI_API_KEY"}, file: ".qwen/oauth_creds.json"},
	launch: launchQwen,
	read:   readClaude,
}

const (
	qwenReads = "read_file,list_directory,glob,grep_search"
	qwenEdits = "edit"
	// These tools would move the work to a tree that ferrus does not read.
	qwenNever = "enter_worktree,exit_worktree"
	// These tools would let a worker start other agents. task is the former name of agent.
	qwenOthers = "agent,task,workflow,create_sub_session,team_create"
)

func launchQwen(a Adapter, s LaunchSpec) (Launch, error) {
	settings := s.file("settings.json")
	server := a.entry(s)
	server["alwaysLoadTools"] = true // else its model must search for them
	conf := map[string]any{"mcpServers": map[string]any{ServerName: server}}
	if s.Ticket != "" { // there its commands get no terminal, and the person's settings are out of reach
		conf["tools"] = map[string]any{"shell": map[string]any{"enableInteractiveShell": false}}
		conf["privacy"] = map[string]any{"usageStatisticsEnabled": false}
		if proc.Lookup(s.Environ, "OPENAI_API_KEY") != "" {
			conf["security"] = authType("openai")
		}
	}
	never := qwenNever
	if s.Duty == Worker {
		never += "," + qwenOthers
	}
	argv := []string{a.Program, "--allowed-mcp-server-names=" + ServerName, "--exclude-tools=" + never}
	if s.Headless {
		argv = append(argv, "--output-format=stream-json")
	}
	switch {
	case !s.Duty.Writes():
		argv = append(argv, "--approval-mode=default", "--core-tools="+qwenReads)
		conf["disableAllHooks"] = true
	case s.Speaks:
		argv = append(argv, "--approval-mode=auto-edit", "--core-tools="+qwenReads+","+qwenEdits)
	case s.Headless:
		argv = append(argv, "--approval-mode=yolo")
	}
	l := geminiLaunch(argv, s)
	l.Env, l.Files = []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH=" + settings}, map[string]string{settings: indented(conf)}
	return l, nil
}
