package branch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Candidate reports whether the attempt has handed in its work, which can be scored and selected.
func Candidate(a Attempt) bool {
	return a.Error == "" && (a.State == state.Reviewing || a.State == state.Complete)
}

// Best returns the attempt with the highest score, the first by name of equal ones. An attempt that was selected or merged
// before is the best. What cannot be compared is refused: an attempt that has not ended, one without a score that counts, and
// scores that different gates have given. A remedy is a command of the project of at.
func Best(at project.Place, list []Attempt) (Attempt, error) {
	if i := slices.IndexFunc(list, func(a Attempt) bool { return a.Selected || a.Merged }); i >= 0 {
		return list[i], nil
	}
	var open, unscored []string
	var best *Attempt
	for i, a := range list {
		switch {
		case a.Error != "":
			return Attempt{}, refused(a.Branch+" cannot be read: "+a.Error, "ferrus doctor{branch} says what is wrong")
		case a.Snap.Task.Underway() && !Candidate(a):
			open = append(open, fmt.Sprintf("%s is %s", a.Branch, a.State))
		case !Candidate(a):
		case a.Score == nil:
			unscored = append(unscored, a.Branch)
		case best == nil:
			best = &list[i]
		case a.Snap.Task.Pin.SHA256 != best.Snap.Task.Pin.SHA256:
			return Attempt{}, refused(fmt.Sprintf("%s and %s were scored with different frozen settings", best.Branch, a.Branch),
				"run ferrus config accept --branch NAME for each, then try again; or name the one to take: ferrus select NAME")
		case *a.Score > *best.Score:
			best = &list[i]
		}
	}
	switch {
	case len(open) > 0:
		return Attempt{}, refused("not all attempts have ended: "+strings.Join(open, ", "),
			refusal.Say("finish them with %s, or remove them with ferrus branch --remove NAME --force", at.RunAll("2")))
	case len(unscored) > 0:
		return Attempt{}, refused("no score counts for "+strings.Join(unscored, ", "), "ferrus branches --score scores them")
	case best == nil:
		return Attempt{}, refused("no attempt has handed in its work", "ferrus branches shows why")
	}
	return *best, nil
}

func refused(message string, remedy refusal.Own) error {
	return &refusal.RefusedError{Code: refusal.WrongState, Message: message, Remedy: remedy, Person: true}
}
