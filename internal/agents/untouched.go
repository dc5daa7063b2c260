package agents

import (
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state"
)

// Files that ferrus alone writes: by which it knows how a task stands, what lies in .ferrus beside the work trees of branches,
// and by which it knows how a run stands. ** is all that is below.
var (
	ofTask = []string{"STATE.json", "journal.jsonl", "tokens.json", "branches/**"}
	ofHome = []string{"*.json", "*.jsonl", "*.md", "*.lock", "archive/**", "branches/**", "evidence/**", "git/**", "live/**", "logs/**", "memory/**",
		"parallel/**", "pipeline-tmp/**", "prompts/**", "queue/**", "runs/**", "skills/**"}
	ofRun = []string{"status.json", "workflow.json", "journal.jsonl", "delivery.json", "workers/**", "prompts/**", "kept/**", "attempts/**"}
)

// untouched are the files that the agent's edit tools refuse, as absolute paths: all of .ferrus, but for a worker, whose
// run usually lies below it, and on a branch, whose work tree does. What is denied cannot be allowed again, so for these each
// is named.
func (s LaunchSpec) untouched() []string {
	var paths []string
	switch {
	case s.Duty != Worker && s.Branch == "":
		return []string{filepath.Join(s.home(), "**")}
	case s.Duty != Worker:
		for _, name := range ofHome {
			paths = append(paths, filepath.Join(s.home(), name))
		}
		return paths
	}
	for _, name := range ofTask {
		paths = append(paths, filepath.Join(s.state(), name))
	}
	for _, doc := range state.Docs() {
		paths = append(paths, filepath.Join(s.state(), string(doc)))
	}
	for _, name := range ofRun {
		paths = append(paths, filepath.Join(s.Run, name))
	}
	return paths
}
