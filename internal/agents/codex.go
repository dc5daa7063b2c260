package agents

// codex is OpenAI's Codex.
var codex = Adapter{
	Name:     "codex",
	Title:    "Codex",
	Program:  "codex",
	Install:  "npm install -g @openai/codex",
	LogIn:    "codex login",
	Wait:     cached,
	Executes: "edits files and runs commands inside its sandbox `workspace-write`",
	Reviews:  "runs commands inside its sandbox `read-only`",
	// Codex reads these only in a project that the person trusts in Codex itself.
	Settings: []string{".codex/config.toml", ".codex/hooks.json", ".codex/rules"},
	Works:    "edits files and runs commands inside its sandbox `workspace-write`, widened by the folder of its run; starts no other agent",
	Speaks:   "what a worker may: its edits are commands, so it keeps its shell, inside its sandbox and without network",
	Resumes:  true,
	Tokens:   true,
	Lacks: []string{
		"In its sandbox the commands of an executor write only to the work folder and the temporary folders. They cannot write to .git or to caches in your home, and reach no network. The checks run outside of it.",
		"Where its sandbox cannot run, as in many containers, its commands fail until you add `--dangerously-bypass-approvals-and-sandbox`.",
		"With bubblewrap older than 0.9 its commands also fail if its home folder (`CODEX_HOME`) is below the temporary folder.",
		"A reviewer, consultant or supervisor may run commands that write nothing.",
		"Its commands run in a login shell: their PATH is that of your profile.",
		"In your terminal it also has tools of its own that list and start other threads.",
		"It does not report its cost.",
	},
	login:  login{ask: []string{"login", "status"}, free: codexFree, keys: []string{"CODEX_API_KEY"}, file: ".codex/auth.json"},
	launch: launchCodex,
	read:   readCodex,
}

func launchCodex(a Adapter, s LaunchSpec) (Launch, error) {
	argv := []string{a.Program}
	set := func(key string, value any) { argv = append(argv, "-c", key+"="+tomlValue(value)) }
	if s.Headless {
		argv = append(argv, "exec", "--json", "--skip-git-repo-check")
	}
	servers, err := codexServers(a, s)
	if err != nil {
		return Launch{}, err
	}
	set("mcp_servers", servers)
	set("features.plugins", false)
	set("features.apps", false)
	if s.Duty == Worker {
		set("agents.enabled", false) // the switches among the features leave the newer models theirs
		argv = append(argv, "--add-dir="+s.Run)
	}
	switch {
	case !s.Duty.Writes():
		set("sandbox_mode", "read-only")
	case s.Ticket != "": // its own does not start in ours, and a login shell has the PATH of the system
		set("sandbox_mode", "danger-full-access")
		set("allow_login_shell", false)
	case s.Headless:
		set("sandbox_mode", "workspace-write")
	}
	if s.Headless {
		set("approval_policy", "never")
	}
	set("shell_environment_policy.set.FERRUS_AGENT", s.Identity(a.Name))
	if s.Model != "" {
		set("model", s.Model)
	}
	l := Launch{Argv: append(argv, s.Args...)}
	if s.Session != "" {
		l.Argv = append(l.Argv, "resume", s.Session)
	}
	if s.Headless {
		l.Argv, l.Stdin = append(l.Argv, "-"), s.Prompt
	} else if s.Prompt != "" {
		l.Argv = append(l.Argv, "--", s.Prompt)
	}
	return l, nil
}
