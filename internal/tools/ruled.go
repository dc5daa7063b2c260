package tools

import (
	"cmp"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// ruledText tells an agent what ferrus did by a rule after its call.
func ruledText(t state.Task) string {
	switch t.State {
	case state.AwaitingHuman:
		return "By a rule of the project ferrus has asked a person. Wait for the answer."
	case state.Consultation:
		return "By a rule of the project ferrus has asked the supervisor. Wait for the answer with wait_for_consult."
	case state.Complete:
		return "By a rule of the project it is approved: the task is complete."
	}
	agent := strings.TrimSuffix(cmp.Or(t.Assigned.Agent, "another agent")+":"+t.Assigned.Model, ":")
	return "By a rule of the project the work is given to " + agent + "."
}
