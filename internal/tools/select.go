package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// selectAttempt compares the attempts at a task, or selects one. Only a person, or their setting in
// ferrus.toml, merges it into the project.
func selectAttempt(ctx context.Context, c *call) error {
	e := c.s.Engine()
	if on := e.Place().Branch; on != "" {
		return &refusal.RefusedError{Code: refusal.ForbiddenRole, Message: "you are the supervisor of the attempt " + on + ", and an attempt cannot select itself",
			Remedy: "the project's own supervisor selects, or a person"}
	}
	names, err := project.Branches(e.Place().Root)
	if err != nil {
		return err
	}
	taken := c.Text["branch"]
	if taken == "" {
		c.res.Attempts = branch.Attempts(ctx, e, names)
		c.res.Message = fmt.Sprintf("Branches: %d. The work of each is in its folder under .ferrus/worktrees. Select one that is Complete.", len(names))
		if slices.ContainsFunc(c.res.Attempts, func(a branch.Attempt) bool { return a.Score != nil }) {
			c.res.Message += " A higher score is better, but the scored code can print it: read the work, too."
		}
		return nil
	}
	b, err := branch.Open(e, taken)
	if code := refusal.CodeOf(err); code == refusal.UnknownBranch || code == refusal.InvalidInput {
		return &refusal.RefusedError{Code: code, Message: refusal.Of(err).Message, Remedy: refusal.Say(
			"%s: these branches exist; select one, or call select without branch to compare them", cmp.Or(strings.Join(names, ", "), "none"))}
	}
	if err != nil {
		return err
	}
	defer b.Close()
	if _, err := b.Session(c.s.Caller).Select(ctx, c.Text["reason"]); err != nil {
		return err
	}
	c.res.Message = taken + " is selected. A person merges it: ferrus select " + taken + "."
	return nil
}
