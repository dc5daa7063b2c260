package state

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

const maxBranch = 40

var (
	branchName = safetext.NewForm(`^[A-Za-z0-9][A-Za-z0-9._-]*$`, 1, maxBranch)
	taskName   = safetext.NewForm(`^t-[0-9]{8}-`, 1, maxBranch)
)

// CheckBranch returns nil if name can be the name of a branch, otherwise the reason. The name
// becomes a folder, a part of a git branch, and an argument on a command line.
func CheckBranch(name string) error {
	why := ""
	switch {
	case len(name) > maxBranch:
		why = fmt.Sprintf("has more than %d bytes", maxBranch)
	case !branchName.MatchString(name):
		why = "may contain only letters, digits, '-', '_' and '.', and must start with a letter or digit"
	case taskName.MatchString(name):
		why = "has the form of a task id"
	case strings.Contains(name, ".."), strings.HasSuffix(name, "."), strings.HasSuffix(name, ".lock"):
		why = "contains two dots, or ends in a dot or in .lock, which git refuses"
	default:
		return nil
	}
	return fmt.Errorf("the branch name %q %s", name, why)
}
