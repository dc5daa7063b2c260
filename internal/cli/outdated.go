package cli

import (
	"os"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Outdated says which processes of the project at root still run a ferrus that was replaced, and what starts them again; both are ""
// where none does.
func Outdated(root string) (text string, remedy refusal.Own) {
	list := proc.Outdated(root)
	if len(list) == 0 {
		return "", ""
	}
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.String()
	}
	return "still at work with the ferrus that was replaced: " + strings.Join(names, ", "),
		"they go on with it until they end; ferrus stop{branch} and then ferrus resume{branch} start a run and its agents again, and a client that is opened again starts its server"
}

// warnOutdated tells a person at a terminal what Outdated says, once in a command.
func (a *App) warnOutdated(root string) {
	if !a.ErrTTY || a.JSON || a.Via != "" || a.at != nil || os.Getenv("FERRUS_AGENT") != "" {
		return
	}
	if text, remedy := Outdated(root); text != "" {
		Fprintf(a.Err, "%s\n  %s\n\n", text, remedy)
	}
}
