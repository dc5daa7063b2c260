package agents

import (
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state"
)

// Files that only ferrus writes: those of a task, those in .ferrus beside the work trees of
// branches, and those of a run. ** stands for everything below.
var (
	ofTask = []string{"STATE.json", "journal.jsonl", "tokens.json", "branches/**"}
	ofHome = []string{"*.json", "*.jsonl", "*.md", "*.lock", "archive/**", "branches/**", "evidence/**", "git/**", "live/**", "logs/**", "memory/**",
		"parallel/**", "pipeline-tmp/**", "prompts/**", "queue/**", "runs/**", "skills/**"}
	ofRun = []string{"status.json", "workflow.json", "journal.jsonl", "delivery.json", "questions.json", "workers/**", "prompts/**", "kept/**", "attempts/**"}
)

// untouched returns the files that the agent's edit tools refuse, as absolute paths: usually all of
// .ferrus. The run of a worker and the work tree of a branch are below .ferrus, and a denied path
// cannot be allowed again, so for these each file is listed.
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
