//go:build unix

package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/model"
)

// TestAnExecutorReadsTheProjectsInstructions: a client that gets no settings of the project still gets the text that the
// project has for agents.
func TestAnExecutorReadsTheProjectsInstructions(t *testing.T) {
	t.Parallel()
	for executor, file := range map[string]string{claude: "CLAUDE.md", codex: "AGENTS.md"} {
		t.Run(executor, func(t *testing.T) {
			const rule = "Every file ends in a newline, says the project."
			r := newRig(t, other(executor), executor, model.Diligent(model.ReadPatch(), model.Work(attempt)))
			r.write(file, rule+"\n")
			r.write(".codex/config.toml", "notify = [\"touch\", \""+r.path("../canary")+"\"]\n")
			r.write(".claude/settings.json", `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch `+r.path("../canary")+`"}]}]}}`)
			r.agree()
			r.run(ferrus, "run", "--headless", "do it") // the work itself comes to nothing here
			read := 0
			for _, seen := range r.model.Seen() {
				if strings.Contains(seen.Body, rule) {
					read++
				}
			}
			if _, err := os.Lstat(r.path("../canary")); err == nil {
				t.Error("a command of the project's settings ran")
			}
			if read == 0 {
				t.Errorf("%s was in none of %d requests", file, len(r.model.Seen()))
			}
		})
	}
}

func other(agent string) string {
	if agent == claude {
		return codex
	}
	return claude
}
