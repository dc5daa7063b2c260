package refusal

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/state"
)

// machineCommand finds the commands that act on one machine: the project's own, unless --branch names another. What it finds
// with an option names a machine already, or acts on the whole project.
var machineCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bferrus (?:run|resume|stop|status|task|answer|send|approve|reject|check|release|reset|reopen|rollback|` +
		`log|logs|show|context|simulate|diff|evidence|config accept|config check|doctor|open)\b(?: --(?:branch|all|parallel)\b)?`)
})

// OnBranch returns a text of ferrus with --branch in each command that acts on one machine, so that it acts on that of the
// branch wherever it is pasted. For the project's own machine, whose branch is "", the text stays as it is.
func OnBranch(branch, text string) string {
	if branch == "" {
		return text
	}
	return machineCommand().ReplaceAllStringFunc(text, func(command string) string {
		if strings.Contains(command, " --") {
			return command
		}
		return command + " --branch " + branch
	})
}

// Finishing returns the command by which a person finishes a rollback or a merge whose files are being moved, "" where none
// is in progress.
func Finishing(t state.Task) string {
	switch r := t.Returning; {
	case r.To != 0 && r.Tree == "":
		return fmt.Sprintf("%s %d --reason \"...\"", OnBranch(t.Branch, "ferrus rollback"), r.To)
	case r.To != 0:
		return fmt.Sprintf("%s %d --files --reason \"...\"", OnBranch(t.Branch, "ferrus rollback"), r.To)
	case r.Of != "":
		return OnBranch(t.Branch, "ferrus resume")
	case r.From != "":
		return "ferrus merge " + r.From
	}
	return ""
}
