package agents

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// harmless are, for each agent, the options that a project's file may add to its command line: they
// choose how a model thinks, and loosen nothing. For a codex override the key is the text before
// "=". All other options count only in a person's own configuration.
var harmless = map[string][]string{
	"claude-code": {"--model", "--fallback-model", "--effort", "--max-turns"},
	"codex":       {"--model", "-m", "-c model", "-c model_reasoning_effort", "-c model_reasoning_summary", "-c model_verbosity"},
	"qwen-code":   {"--model", "-m"},
	"gemini":      {"--model", "-m"},
	"opencode":    {"--model", "-m", "--variant"},
	"goose":       {"--max-turns"},
}

// plainValue matches values that no client takes for another option, a path or a command.
var plainValue = safetext.NewForm(`^"?[A-Za-z0-9][A-Za-z0-9._:@/\[\]-]*"?$`, 1, 102)

// Harmful returns the arguments of a project's file that are not known to be harmless for an agent.
// For the agent "command" that is all of them: the person sees them with its command. For an
// unknown agent it is none.
func Harmful(agent string, args []string) []string {
	if agent == command.Name {
		return nil
	}
	var bad []string
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		if option == "-c" || option == "--config" {
			option, joined = "-c", false
			if i+1 < len(args) {
				var key string
				key, value, joined = strings.Cut(args[i+1], "=")
				option, value = "-c "+key, strings.TrimSpace(value)
				if joined && slices.Contains(harmless[agent], option) && plainValue.MatchString(value) {
					i++
					continue
				}
			}
			bad = append(bad, args[i])
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if !slices.Contains(harmless[agent], option) || !plainValue.MatchString(value) {
			bad = append(bad, args[i])
			continue
		}
		if !joined {
			i++
		}
	}
	return bad
}
