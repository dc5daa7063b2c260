package doctor

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// checkPipelines finds active runs that wait for a person or for a missing process.
func checkPipelines(p *Context) finding {
	e, err := p.engine()
	if err != nil {
		return finding{} // other exams say why
	}
	var waiting, mends []string
	list := status.RunningPipelines(e)
	for _, u := range list {
		if u.Person || u.Deserted {
			waiting = append(waiting, fmt.Sprintf("%s is %s and waits %s", u.Run, u.State, u.Waiting))
			mends = append(mends, u.Next)
		}
	}
	switch {
	case len(waiting) > 0:
		return noted(strings.Join(waiting, "; "), strings.Join(mends, ", or "))
	case len(list) > 0:
		return fine(format.Count(len(list), "pipeline run is", "pipeline runs are") + " active")
	}
	return finding{}
}

// checkWorkflows validates workflows.json.
func checkWorkflows(p *Context) finding {
	here := *p.A
	here.Dir = p.Place.Root
	all, path, err := here.Workflows(p.Ctx)
	switch {
	case refusal.CodeOf(err) == refusal.NotInitialised:
		return finding{} // nobody must have pipelines
	case err != nil:
		f := cli.Explain(err)
		return bad(f.Message, "ferrus pipeline validate lists them")
	}
	return fine(path + " has " + format.Count(len(all), "pipeline", "pipelines"))
}
