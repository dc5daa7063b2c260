package agents

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// command is the adapter for everything else: a shell command of the person.
var command = Adapter{
	Name:     "command",
	Title:    "a command of your own",
	Wait:     45,
	Executes: "what your command lets it",
	Reviews:  "what your command lets it",
	Works:    "what your command lets it",
	Speaks:   "what your command lets it",
	Lacks:    []string{"What its agent may do, and what it costs, is between you and your command."},
	launch:   launchCommand,
	read:     readPlain,
	heeds:    plainHeeds,
}

// placeholders are the values that a command can use.
var placeholders = []struct{ name, is string }{
	{"prompt", "the agent's prompt"},
	{"root", "the project's folder"},
	{"branch", "the branch of the machine; empty for the project's own"},
	{"work", "the folder to work in"},
	{"duty", "`executor`, `consultant`, `reviewer`, `supervisor` or `worker`"},
	{"role", "`executor`, `supervisor` or `worker`"},
	{"model", "the model that `ferrus.toml` names; empty for none"},
	{"mcp_config", "a file with the ferrus MCP server, in the form `{\"mcpServers\": {...}}`"},
	{"server", "the command line of the ferrus MCP server, as several words"},
	{"run_dir", "the folder of the run that a worker works in; empty for the others"},
	{"worker", "a worker's role in its pipeline; empty for the others"},
	{"output", "the one file that a worker writes, or `dialogue.json`; empty for the others"},
}

// launchCommand runs the command in the shell. The values of the placeholders are also in the
// environment, for scripts that avoid quoting: {prompt} is FERRUS_PROMPT, and so on.
func launchCommand(a Adapter, s LaunchSpec) (Launch, error) {
	if strings.TrimSpace(s.Command) == "" {
		return Launch{}, errors.New(`the agent "command" has no command: name one in ferrus.toml, [hq.executor] or [hq.supervisor]`)
	}
	server := a.server(s)
	conf, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		ServerName: withEnv(map[string]any{"command": server[0], "args": server[1:]}, "env", s)}})
	if err != nil {
		return Launch{}, err
	}
	file := s.file("mcp.json")
	values := map[string]string{
		"prompt": s.Prompt, "root": s.Root, "branch": s.Branch, "work": s.Work, "duty": string(s.Duty),
		"role": string(s.Duty.Role()), "model": s.Model, "mcp_config": file, "server": quoted(server),
		"run_dir": s.Run, "worker": s.Name, "output": s.Output,
	}
	var fill, env []string
	for _, p := range placeholders {
		value := values[p.name]
		env = append(env, "FERRUS_"+strings.ToUpper(p.name)+"="+value)
		if p.name != "server" { // several words, quoted already
			value = format.ShellWord(value)
		}
		fill = append(fill, "{"+p.name+"}", value)
	}
	line := strings.NewReplacer(fill...).Replace(s.Command)
	for _, arg := range s.Args {
		line += " " + format.ShellWord(arg)
	}
	return Launch{Argv: []string{"/bin/sh", "-c", line}, Env: env, Files: map[string]string{file: string(conf) + "\n"}}, nil
}

// quoted returns a command line quoted for the shell.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = format.ShellWord(arg)
	}
	return strings.Join(out, " ")
}
