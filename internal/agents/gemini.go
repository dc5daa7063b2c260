package agents

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
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
	Speaks:   "reads files and replaces text in them; has no shell, no network and no other tool",
	Settings: []string{".gemini/settings.json", ".gemini/.env", ".gemini/extensions"},
	Tokens:   true,
	Lacks: []string{
		"It cannot be given one MCP server for one session, so ferrus gives it a home of its own, without your settings and extensions and without a login with Google. It needs `GEMINI_API_KEY` or Vertex AI in its environment.",
		"In its session the ferrus server is called `" + geminiServer + "`, because a project's settings override those of its home.",
		"Its commands run without a sandbox: those of an executor can do what you can.",
		"A reviewer or consultant cannot read files that `.gitignore` names.",
		"Its shell tool kills a command that is silent for five minutes.",
		"It reports its tokens only when it ends, and no dollars.",
	},
	login:  login{keys: []string{"GEMINI_API_KEY"}, file: ".gemini/oauth_creds.json"},
	launch: launchGemini,
	read:   readGemini,
}

// geminiServer is the name of our server in Gemini CLI, where the project's own settings would
// override another `ferrus`.
const geminiServer = "ferrus-run"

// geminiEdits is its tool that changes a text in a file.
const geminiEdits = "replace"

// geminiReads are the tools of Gemini CLI that only read.
var geminiReads = []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"}

func launchGemini(a Adapter, s LaunchSpec) (Launch, error) {
	home := filepath.Join(cmp.Or(s.Home, s.Scratch), string(s.Duty)+".gemini") // it writes there
	settings, policy := filepath.Join(home, ".gemini", "settings.json"), s.file("policy.toml")
	argv := []string{a.Program, "--allowed-mcp-server-names=" + geminiServer, "--admin-policy=" + policy}
	env := []string{"GEMINI_CLI_HOME=" + home}
	if s.Headless {
		argv = append(argv, "--output-format=stream-json")
		env = append(env, "GEMINI_CLI_TRUST_WORKSPACE=true")
	}
	switch {
	case !s.Duty.Writes() || s.Speaks:
		argv = append(argv, "--approval-mode=default")
	case s.Headless:
		argv = append(argv, "--approval-mode=yolo")
	}
	l := geminiLaunch(argv, s)
	l.Env, l.Files = env, map[string]string{settings: indented(geminiSettings(a, s)), policy: geminiPolicy(s)}
	return l, nil
}

// geminiLaunch adds to the command line the options that Gemini CLI and Qwen Code, which derives
// from it, share.
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
	conf := map[string]any{"mcpServers": map[string]any{geminiServer: a.entry(s)},
		"privacy": map[string]any{"usageStatisticsEnabled": false}} // the person may have chosen so in settings that it does not read
	if s.Duty == Worker { // git ignores the folder of its run, and so would its tools
		conf["context"] = map[string]any{"fileFiltering": map[string]any{"respectGitIgnore": false}}
	}
	if !s.Duty.Writes() {
		conf["hooksConfig"] = map[string]any{"enabled": false}
	}
	// Without this choice an interactive session starts with a question.
	for _, way := range []struct{ variable, choice string }{
		{"GEMINI_API_KEY", "gemini-api-key"}, {"GOOGLE_GENAI_USE_VERTEXAI", "vertex-ai"}, {"GOOGLE_API_KEY", "vertex-ai"}} {
		if proc.Lookup(s.Environ, way.variable) != "" {
			conf["security"] = authType(way.choice)
			break
		}
	}
	return conf
}

// authType chooses how Gemini CLI and Qwen Code log in.
func authType(choice string) map[string]any {
	return map[string]any{"auth": map[string]any{"selectedType": choice}}
}

// geminiPolicy returns rules that override all others. Our tools are allowed, those of other
// servers are not. Of its own tools only those that read are allowed if the duty does not write; a
// speaker of a dialogue also has the one that edits, and a worker cannot start other agents. The model does not see denied tools.
func geminiPolicy(s LaunchSpec) string {
	rules := []string{
		"toolName = \"*\"\nmcpName = \"" + geminiServer + "\"\ndecision = \"allow\"\npriority = 999\n",
		"toolName = \"mcp_*\"\ndecision = \"deny\"\npriority = 998\n",
	}
	own := geminiReads
	if s.Speaks {
		own = append(slices.Clone(own), geminiEdits)
	}
	switch {
	case s.Duty == Worker && !s.Speaks:
		rules = append(rules, "toolName = \"invoke_agent\"\ndecision = \"deny\"\npriority = 997\n")
	case !s.Duty.Writes() || s.Speaks:
		rules = append(rules,
			"toolName = "+tomlValue(own)+"\ndecision = \"allow\"\npriority = 997\n",
			"toolName = \"*\"\ndecision = \"deny\"\npriority = 996\n")
	}
	return "[[rule]]\n" + strings.Join(rules, "\n[[rule]]\n")
}
