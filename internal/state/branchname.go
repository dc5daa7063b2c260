package state

import (
	"fmt"
	"regexp"
	"strings"
)

var branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const maxBranch = 40

var taskName = regexp.MustCompile(`^t-[0-9]{8}-`)

// CheckBranch says why a branch cannot be called that, nil if it can: its name is a folder, a part of a git branch and of a
// command line.
func CheckBranch(name string) error {
	why := ""
	switch {
	case len(name) > maxBranch:
		why = fmt.Sprintf("has more than %d bytes", maxBranch)
	case !branchName.MatchString(name):
		why = "is not made of letters, digits, '-', '_' and '.', with a letter or digit first"
	case taskName.MatchString(name):
		why = "is that of a task"
	case strings.Contains(name, ".."), strings.HasSuffix(name, "."), strings.HasSuffix(name, ".lock"):
		why = "holds two dots, or ends in a dot or in .lock, which git does not take"
	default:
		return nil
	}
	return fmt.Errorf("the branch name %q %s", name, why)
}
