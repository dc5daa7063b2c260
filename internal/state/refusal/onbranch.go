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

// Own is text that stands in the source of ferrus. Constants alone become one: nothing may be converted to it, because what came from
// a person, a check or a file is never rewritten.
type Own string

// OnBranch returns a text of ferrus with --branch in each command that acts on one machine, so that it acts on that of the
// branch wherever it is pasted. For the project's own machine, whose branch is "", the commands stay as they are. args stand in the
// text as those of fmt.Sprintf do, and are not changed.
func OnBranch(branch string, text Own, args ...any) string {
	placed := place(branch, string(text))
	if len(args) == 0 {
		return placed
	}
	return fmt.Sprintf(placed, args...)
}

// CommandOn is OnBranch for one whole command. Its arguments are not changed.
func CommandOn(branch, command string) string {
	at := machineCommand().FindStringIndex(command)
	if at == nil || at[0] != 0 {
		return command
	}
	return place(branch, command[:at[1]]) + command[at[1]:]
}

// RemedyOn is OnBranch for a remedy that was written where the branch is not known. One that has text of others names its branch
// itself; see RefusedError.Placed.
func RemedyOn(branch, remedy string) string { return place(branch, remedy) }

func place(branch, text string) string {
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
		return OnBranch(t.Branch, `ferrus rollback %d --reason "..."`, r.To)
	case r.To != 0:
		return OnBranch(t.Branch, `ferrus rollback %d --files --reason "..."`, r.To)
	case r.Of != "":
		return OnBranch(t.Branch, "ferrus resume")
	case r.From != "":
		return "ferrus merge " + r.From
	}
	return ""
}
