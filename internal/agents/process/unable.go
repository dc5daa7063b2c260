package process

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// An Absence says why the client of an agent can do no work. The zero one says that it can.
type Absence struct {
	Why   string    // follows the name of the agent
	Until time.Time // when its limit is over, as the client declares; zero for anything else
}

const (
	// soon is how long a limit may last for which no other agent is worth its start.
	soon = 5 * time.Minute
	// lookAgain is the time after which a client is tried again that was not logged in, or could not start.
	lookAgain = time.Hour
)

// Absence returns why the client of a run that has ended could not go on: a limit that it declares and that lasts, a missing login, or a
// program that cannot start. Any other failure says nothing about the next run.
func (r Run) Absence() Absence {
	switch {
	case r.Trouble == agents.RateLimited && r.Until.Sub(r.Ended) > soon:
		return Absence{"has reached its limit", r.Until}
	case r.Trouble == agents.Unauthorised:
		return Absence{Why: "is not logged in"}
	case r.Unable:
		return Absence{Why: "cannot start"}
	}
	return Absence{}
}

// Absent returns why an agent with a model cannot work now, by the newest of its runs on this computer that has ended.
func Absent(runs []Run, agent, model string, now time.Time) (a Absence) {
	for _, r := range runs {
		if r.Agent != agent || r.Model != model || r.Node != "" || !r.Over() {
			continue
		}
		a = r.Absence()
		if over := r.Ended.Add(lookAgain); !a.Until.IsZero() && !a.Until.After(now) || a.Until.IsZero() && !over.After(now) {
			a = Absence{}
		}
	}
	return a
}
