package simulate

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A raised is an event and who raises it.
type raised struct {
	role  state.Role // as journals name it: the holder is an executor
	event state.Event
}

// movesOf reads events as they are given to simulate: with their role, or without where only one may raise them.
func movesOf(words []string) ([]raised, error) {
	var list []raised
	for _, w := range words {
		m, err := moveOf(w)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

func moveOf(word string) (raised, error) {
	who, what, named := strings.Cut(word, ":")
	if !named {
		who, what = "", word
	}
	var events, roles []string
	for _, ev := range state.Events() {
		events = append(events, string(ev))
	}
	for _, r := range state.Roles() {
		if r != state.Holder {
			roles = append(roles, string(r))
		}
	}
	ev, by := state.Event(what), state.Role(who).Public()
	may := mayRaise(ev)
	switch {
	case !slices.Contains(events, what):
		return raised{}, cli.UsageError(meant(what, events), "there is no event %q", what)
	case ev == state.Rollback || ev == state.RollbackBegun:
		return raised{}, cli.UsageError("ferrus context --at SEQ shows the task as it was there", "a %s cannot be simulated: it leads to an entry of the log", ev)
	case named && !slices.Contains(roles, string(by)):
		return raised{}, cli.UsageError(meant(who, roles), "there is no role %q", who)
	case named:
		return raised{by, ev}, nil
	case len(may) > 1:
		var choices []string
		for _, r := range may {
			choices = append(choices, string(r)+":"+what)
		}
		return raised{}, cli.UsageError(strings.Join(choices, ", or "), "the role of %s is missing", what)
	}
	return raised{may[0], ev}, nil
}

// mayRaise are the roles that may raise an event in some state, as journals name them.
func mayRaise(ev state.Event) []state.Role {
	var may []state.Role
	for _, r := range state.Roles() {
		if state.May(r, ev) && !slices.Contains(may, r.Public()) {
			may = append(may, r.Public())
		}
	}
	return may
}

// meant is the remedy for a word that is none of a list.
func meant(word string, of []string) string {
	if near := config.Nearest(word, of); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(of, ", ")
}
