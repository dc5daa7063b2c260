package sharing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Discard removes a project from the database at url that a move of an older ferrus has left which did not succeed. which is its id or its name. One that
// somebody uses is refused: that a folder has joined, or in which somebody has worked or written. root is the folder that says so.
func Discard(ctx context.Context, root, url, which string) (Moved, error) {
	main := project.At(root, "")
	own, err := main.Arriving()
	if err == nil && own == nil {
		own, err = main.Shared()
	}
	if err != nil {
		return Moved{}, err
	}
	_, d, found, err := find(ctx, root, url, which)
	if err != nil {
		return Moved{}, err
	}
	did := Moved{Project: found.ID, Name: found.Name, URL: url, Machines: 1 + found.Branches}
	used := func(by string) error {
		return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("the project %s (%s) is in use: %s", found.Name, found.ID, by), Person: true,
			Remedy: "nothing was changed: ferrus store move --files takes a project out of the database, in a folder that belongs to it"}
	}
	if own != nil && own.Project == found.ID {
		return did, used("this folder belongs to it")
	}
	use, err := d.Discard(ctx, found.ID)
	var by []string
	for _, m := range use.Members {
		by = append(by, fmt.Sprintf("%s on %s has joined it", m.Root, m.Host))
	}
	if use.Worked {
		by = append(by, "a computer has worked on it")
	}
	if !use.Written.IsZero() {
		by = append(by, "somebody has written to it at "+use.Written.Local().Format(time.DateTime))
	}
	if err == nil && len(by) > 0 {
		err = used(strings.Join(by, "; "))
	}
	return did, err
}
