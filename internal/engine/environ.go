package engine

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/refusal"
)

// maxNamed is how many variables are named one by one.
const maxNamed = 8

// EnvironNotice tells that variables of this server which decide what a program is are not those of the task; "" where all
// are. It is for the results that say what ran, not for every one: clients give their servers variables of their own.
func (st Status) EnvironNotice() string {
	names := st.Environ
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return "environment: " + strings.Join(names, ", ") + more + " of this server are not as they were frozen with the task; the checks run with " +
		"those of the task. " + refusal.OnBranch(st.Task.Branch, "ferrus config accept") + " freezes the environment of the terminal in which it is run"
}
