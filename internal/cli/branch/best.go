package branch

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// selectBest scores the attempts of a group and takes the best.
func selectBest(a *cli.App, ctx context.Context, name, reason string, keep bool) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	names, err := project.Branches(place.Root)
	if err != nil {
		return err
	}
	group, err := groupOf(names, name)
	if err != nil {
		return err
	}
	list, err := attempts(a, ctx, group[0])
	if err != nil {
		return err
	}
	if list, err = scored(a, ctx, "select --best", list); err != nil {
		return err
	}
	best, err := branch.Best(place, list)
	if err != nil {
		return cli.CannotDo("select the best attempt", "", err)
	}
	if !a.JSON {
		ShowAttempts(a, list)
		a.Say("the best is %s\n", best.Branch)
	}
	if err := unseen(a, ctx, best); err != nil {
		return err
	}
	if reason == "" && best.Score != nil {
		reason = "the highest score, " + best.Number()
	}
	return selectBranch(a, ctx, best.Branch, reason, keep)
}

// unseen refuses to approve an attempt that waits for its review, by its score alone, while a reviewer would be told more than
// the patch shows.
func unseen(a *cli.App, ctx context.Context, best branch.Attempt) error {
	if best.State != state.Reviewing {
		return nil
	}
	s, err := a.ProjectSession(ctx, "select --best")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	on, err := branch.Open(s.Engine(), best.Branch)
	if err != nil {
		return err
	}
	defer on.Close()
	doubts := on.Notices(ctx, best.Snap)
	if len(doubts) == 0 {
		return nil
	}
	return cli.Refuse(refusal.WrongState, best.Branch+" has the highest score and no review, and a reviewer would be told: "+strings.Join(doubts, "; "),
		refusal.Say("look at it with ferrus diff --branch %s, then take it with ferrus select %s", best.Branch, best.Branch))
}

// groupOf returns the attempts that name means: those of its group, or of the only group for "".
func groupOf(names []string, name string) ([]string, error) {
	groups := branch.Groups(names)
	if name == "" {
		if len(groups) == 1 {
			return groups[0], nil
		}
		if len(groups) == 0 {
			return nil, cli.UsageError(`ferrus branch NAME -n 3 --task "..." creates three attempts`, "there are no attempts to compare")
		}
		var stems []string
		for _, g := range groups {
			stems = append(stems, strings.TrimSuffix(g[0], g[0][strings.LastIndexByte(g[0], '.'):]))
		}
		return nil, cli.UsageError(refusal.Say("ferrus select %s --best", stems[0]), "there are several groups of attempts: %s", strings.Join(stems, ", "))
	}
	for _, g := range groups {
		for _, member := range g {
			if member == name || strings.HasPrefix(member, name+".") && !strings.Contains(member[len(name)+1:], ".") {
				return g, nil
			}
		}
	}
	return nil, cli.UsageError("ferrus branches shows the attempts", "there are no attempts %s", name)
}

// scored scores the attempts that can have a score and have none, and returns all as they are then.
func scored(a *cli.App, ctx context.Context, verb string, list []branch.Attempt) ([]branch.Attempt, error) {
	s, err := a.ProjectSession(ctx, verb)
	if err != nil {
		return nil, err
	}
	defer s.Engine().Close()
	var names []string
	for _, t := range list {
		names = append(names, t.Branch)
		if t.Error != "" || t.Score != nil || !t.Green || t.Merged || t.Snap.Task.IsDelegate() {
			continue // nobody selects a delegate
		}
		from, err := status.OpenBranch(s, t.Branch, a.Shown)
		if err != nil {
			return nil, cli.CannotDo("score "+t.Branch, "", err)
		}
		scoring, end := a.Working(ctx, "scoring "+t.Branch)
		_, err = branch.Take(scoring, from)
		end()
		from.Engine().Close()
		if err != nil {
			return nil, cli.CannotDo("score "+t.Branch, "", err)
		}
	}
	return branch.Attempts(ctx, s.Engine(), names), nil
}
