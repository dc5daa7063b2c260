package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// limit returns how many seconds a client must allow one call of our tools: the longest wait, plus
// time for a slow machine.
func (a Adapter) limit() int { return a.Wait + 60 }

// file returns the path of a file of the launch.
func (s LaunchSpec) file(kind string) string {
	return filepath.Join(s.Scratch, string(s.Duty)+"."+kind)
}

// state returns the folder of the task's documents.
func (s LaunchSpec) state() string {
	if s.Branch != "" {
		return filepath.Join(s.home(), "branches", s.Branch)
	}
	return s.home()
}

func (s LaunchSpec) home() string { return filepath.Join(s.Root, ".ferrus") }

// beyond returns the folders outside of its work in which the agent must read, or a worker must
// write.
func (s LaunchSpec) beyond() []string {
	if s.Ticket != "" {
		return []string{s.Scratch}
	}
	dir := s.state()
	if s.Duty == Worker {
		dir = s.Run
	}
	if rootfs.Within(s.Work, dir) {
		return nil
	}
	return []string{dir}
}

// entry returns the MCP server as Gemini CLI and Qwen Code have it in their settings.
func (a Adapter) entry(s LaunchSpec) map[string]any {
	argv := a.server(s)
	return withEnv(map[string]any{"command": argv[0], "args": argv[1:], "timeout": 1000 * a.limit(), "trust": true}, "env", s)
}

// withEnv adds the variables that our server needs to a client's entry of it, under the client's
// key for them.
func withEnv(entry map[string]any, key string, s LaunchSpec) map[string]any {
	if set := handed(s.Environ); s.Ticket == "" && len(set) > 0 {
		entry[key] = set
	}
	return entry
}

// indented returns JSON for a file that a person may read.
func indented(v any) string { return jsonText(v, "  ") + "\n" }

// compact returns JSON for an environment variable.
func compact(v any) string { return jsonText(v, "") }

func jsonText(v any, indent string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic(err) // callers pass only maps, slices, strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}
