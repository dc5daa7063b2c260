package agents

import (
	"path/filepath"
	"strings"
)

// gemini is Google's Gemini CLI.
var gemini = Adapter{
	Name:     "gemini",
	Title:    "Gemini CLI",
	Program:  "gemini",
	Install:  "npm install -g @google/gemini-cli",
	Wait:     240,
	Executes: "edits files and runs commands (`yolo`)",
	Reviews:  "reads and searches files; has no tool that edits or runs, and runs no hooks",
	Works:    "edits files and runs commands (`yolo`); starts no other agent",
	Settings: []string{".gemini/settings.json", ".gemini/.env", ".gemini/extensions"},
	Lacks: []string{
		"It cannot be given one MCP server for one session, so ferrus gives it a home of its own, without your settings and extensions and without a login with Google. It needs `GEMINI_API_KEY` or Vertex AI in its environment.",
		"In its session our server is called `" + geminiServer + "`, because a project's settings override those of its home.",
		"Its commands run without a sandbox: those of an executor can do what you can.",
		"A reviewer or consultant cannot read files that `.gitignore` names.",
		"Its shell tool kills a command that is silent for five minutes.",
		"It reports its tokens only when it ends, and no dollars.",
	},
	launch: launchGemini,
	read:   readGemini,
}

// geminiServer is what our server is called under Gemini CLI, where the project's own settings would win over another
// `ferrus`.
const geminiServer = "ferrus-run"

// geminiReads are the tools of Gemini CLI that change nothing.
var geminiReads = []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"}

func launchGemini(a Adapter, s LaunchSpec) (Launch, error) {
	home := filepath.Join(s.Scratch, string(s.Duty)+".gemini")
	settings, policy := filepath.Join(home, ".gemini", "settings.json"), s.file("policy.toml")
	argv := []string{a.Program, "--allowed-mcp-server-names=" + geminiServer, "--admin-policy=" + policy}
	env := []string{"GEMINI_CLI_HOME=" + home}
	if s.Headless {
		argv = append(argv, "--output-format=stream-json")
		env = append(env, "GEMINI_CLI_TRUST_WORKSPACE=true")
	}
	switch {
	case !s.Duty.Writes():
		argv = append(argv, "--approval-mode=default")
	case s.Headless:
		argv = append(argv, "--approval-mode=yolo")
	}
	l := geminiLaunch(argv, s)
	l.Env, l.Files = env, map[string]string{settings: indented(geminiSettings(a, s)), policy: geminiPolicy(s)}
	return l, nil
}

// geminiLaunch ends the command line with what Gemini CLI and Qwen Code, which comes from it, take alike.
func geminiLaunch(argv []string, s LaunchSpec) Launch {
	for _, dir := range s.beyond() {
		argv = append(argv, "--include-directories="+dir)
	}
	if s.Model != "" {
		argv = append(argv, "--model="+s.Model)
	}
	l := Launch{Argv: append(argv, s.Args...)}
	if s.Headless {
		l.Stdin = s.Prompt
	} else if s.Prompt != "" {
		l.Argv = append(l.Argv, "--prompt-interactive="+s.Prompt)
	}
	return l
}

func geminiSettings(a Adapter, s LaunchSpec) map[string]any {
	conf := map[string]any{"mcpServers": map[string]any{geminiServer: a.entry(s)}}
	if s.Duty == Worker { // its run lies where git looks away, and so would its tools
		conf["context"] = map[string]any{"fileFiltering": map[string]any{"respectGitIgnore": false}}
	}
	if !s.Duty.Writes() {
		conf["hooksConfig"] = map[string]any{"enabled": false}
	}
	// Without the choice an interactive session begins with a question.
	for _, way := range []struct{ variable, choice string }{
		{"GEMINI_API_KEY", "gemini-api-key"}, {"GOOGLE_GENAI_USE_VERTEXAI", "vertex-ai"}, {"GOOGLE_API_KEY", "vertex-ai"}} {
		if lookup(s.Environ, way.variable) != "" {
			conf["security"] = map[string]any{"auth": map[string]any{"selectedType": way.choice}}
			break
		}
	}
	return conf
}

// geminiPolicy are rules that go before all others: our tools may, those of other servers may not, and of its own only
// those that read may where nothing is to be written; a worker starts no other agent. What is denied is not shown to the
// model.
func geminiPolicy(s LaunchSpec) string {
	rules := []string{
		"toolName = \"*\"\nmcpName = \"" + geminiServer + "\"\ndecision = \"allow\"\npriority = 999\n",
		"toolName = \"mcp_*\"\ndecision = \"deny\"\npriority = 998\n",
	}
	switch {
	case s.Duty == Worker:
		rules = append(rules, "toolName = \"invoke_agent\"\ndecision = \"deny\"\npriority = 997\n")
	case !s.Duty.Writes():
		rules = append(rules,
			"toolName = "+tomlValue(geminiReads)+"\ndecision = \"allow\"\npriority = 997\n",
			"toolName = \"*\"\ndecision = \"deny\"\npriority = 996\n")
	}
	return "[[rule]]\n" + strings.Join(rules, "\n[[rule]]\n")
}
