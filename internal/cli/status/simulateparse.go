package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A ParseError says what is wrong with a word, and what was perhaps meant.
type ParseError struct {
	Problem string
	Hint    string // "" when no other word would help
}

func (e *ParseError) Error() string { return e.Problem }

// ParseEvent reads an event as people write it: ROLE:EVENT, or EVENT alone if only one role may raise it. A rollback
// cannot be simulated, because it leads to a line of the journal. The error is a *ParseError.
func ParseEvent(word string) (Event, error) {
	who, what, named := strings.Cut(word, ":")
	if !named {
		who, what = "", word
	}
	var roles []string
	for _, r := range state.Roles() {
		if r != state.Holder {
			roles = append(roles, string(r))
		}
	}
	events := names(state.Events())
	ev, by := state.Event(what), state.Role(who).Public()
	may := mayRaise(ev)
	switch {
	case !slices.Contains(events, what):
		return Event{}, unknown("event", what, events)
	case ev == state.Rollback || ev == state.RollbackBegun:
		return Event{}, &ParseError{Problem: fmt.Sprintf("a %s cannot be simulated: it leads to an entry of the log", ev)}
	case named && !slices.Contains(roles, string(by)):
		return Event{}, unknown("role", who, roles)
	case named:
		return Event{by, ev}, nil
	case len(may) > 1:
		var choices []string
		for _, r := range may {
			choices = append(choices, string(r)+":"+what)
		}
		return Event{}, &ParseError{fmt.Sprintf("the role of %s is missing", what), strings.Join(choices, ", or ")}
	}
	return Event{may[0], ev}, nil
}

// ParseState reads the name of a state in upper or lower case. The error is a *ParseError.
func ParseState(word string) (state.State, error) {
	for _, s := range state.States() {
		if strings.EqualFold(word, string(s)) {
			return s, nil
		}
	}
	return "", unknown("state", word, names(state.States()))
}

// mayRaise returns the roles that may raise an event in some state, as journals name them.
func mayRaise(ev state.Event) []state.Role {
	var may []state.Role
	for _, r := range state.Roles() {
		if state.May(r, ev) && !slices.Contains(may, r.Public()) {
			may = append(may, r.Public())
		}
	}
	return may
}

func names[T ~string](all []T) (list []string) {
	for _, x := range all {
		list = append(list, string(x))
	}
	return list
}

// unknown is the error of a word that is none of a list.
func unknown(kind, word string, of []string) error {
	hint := "there are " + strings.Join(of, ", ")
	if near := format.Word(word, of); near != "" {
		hint = "did you mean " + near + "?"
	}
	return &ParseError{fmt.Sprintf("there is no %s %q", kind, word), hint}
}
