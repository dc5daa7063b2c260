package doctor

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// checkDatabase asks the database of the project who takes part.
func checkDatabase(p *Context) Finding {
	at, err := project.At(p.Place.Root, "").Shared()
	if err != nil {
		return troubled(err)
	}
	if at == nil {
		return Finding{} // reported by the check of the folder
	}
	d, err := at.Database(p.Ctx, nil)
	if err != nil {
		return troubled(err)
	}
	nodes, err := d.Nodes(p.Ctx, at.Project)
	if err != nil {
		return troubled(err)
	}
	heard := 0
	for _, n := range nodes {
		if !n.Heard.IsZero() && !n.Lost {
			heard++
		}
	}
	if other, err := at.Ignored(); err != nil {
		return troubled(err)
	} else if other != "" {
		return Noted(fmt.Sprintf("%s; [store] url of your own configuration names %s, which is not used", at.URL, other),
			refusal.Say("if the database has moved: %s; else correct the url", at.Rejoin()))
	}
	return Fine(fmt.Sprintf("%s; %s, %d of them there now", at.URL, format.Count(len(nodes), "computer", "computers"), heard))
}
