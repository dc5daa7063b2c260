package doctor

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// checkPipelines finds active runs that wait for a person or for a missing process.
func checkPipelines(p *Context) Finding {
	e, err := p.Engine()
	if err != nil {
		return Finding{} // other checks say why
	}
	var waiting, remedies []string
	list := status.RunningPipelines(e)
	for _, u := range list {
		if u.Person || u.Deserted {
			waiting = append(waiting, fmt.Sprintf("%s is %s and waits %s", u.Run, u.State, u.Waiting))
			remedies = append(remedies, u.Next)
		}
	}
	switch {
	case len(waiting) > 0:
		return Noted(strings.Join(waiting, "; "), refusal.Say("%s", strings.Join(remedies, ", or ")))
	case len(list) > 0:
		return Fine(format.Count(len(list), "pipeline run is", "pipeline runs are") + " active")
	}
	return Finding{}
}
