package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// limit is how many seconds a client must give one call of our tools: the longest wait, and time for a slow machine.
func (a Adapter) limit() int { return a.Wait + 60 }

// file is the path of a file of the seat's launch.
func (s LaunchSpec) file(kind string) string {
	return filepath.Join(s.Scratch, string(s.Duty)+"."+kind)
}

// state is the folder of the task's documents.
func (s LaunchSpec) state() string {
	if s.Branch != "" {
		return filepath.Join(s.home(), "branches", s.Branch)
	}
	return s.home()
}

func (s LaunchSpec) home() string { return filepath.Join(s.Root, ".ferrus") }

// beyond are the folders in which the agent has to read, or a worker to write, though they are not within its work.
func (s LaunchSpec) beyond() []string {
	dir := s.state()
	if s.Duty == Worker {
		dir = s.Run
	}
	if within(s.Work, dir) {
		return nil
	}
	return []string{dir}
}

// entry is the seat's MCP server as Gemini CLI and Qwen Code have it in their settings.
func (a Adapter) entry(s LaunchSpec) map[string]any {
	argv := a.server(s)
	return withEnv(map[string]any{"command": argv[0], "args": argv[1:], "timeout": 1000 * a.limit(), "trust": true}, "env", s)
}

// withEnv adds to a client's entry of our server, under the client's name for them, the variables that it needs.
func withEnv(entry map[string]any, key string, s LaunchSpec) map[string]any {
	if set := handed(s.Environ); len(set) > 0 {
		entry[key] = set
	}
	return entry
}

// indented is JSON for a file that a person may look at.
func indented(v any) string { return jsonText(v, "  ") + "\n" }

// compact is JSON for an environment.
func compact(v any) string { return jsonText(v, "") }

func jsonText(v any, indent string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic(err) // we give it nothing but maps, slices, strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
