package branch

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// fetched is what became of the work tree of a branch.
type fetched struct {
	Branch string         `json:"fetched"`
	Work   string         `json:"work"`
	Commit string         `json:"commit"`
	Tree   string         `json:"tree"`
	New    bool           `json:"new"`
	Saved  string         `json:"saved,omitempty"`
	Edited []restore.Edit `json:"edited,omitempty"`
}

func fetchBranch(a *cli.App, ctx context.Context, name string) error {
	s, err := a.ProjectSession(ctx, "branch --fetch")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	if err := a.WithTrust(s.Engine(), s.Engine().Trusted); err != nil {
		return cli.CannotDo("fetch "+name, "", err)
	}
	ctx, end := a.Working(ctx, "fetching "+name)
	defer end()
	got, err := branch.Fetch(ctx, s, name, "")
	end()
	if err != nil {
		return cli.CannotDo("fetch "+name, "", err)
	}
	if a.JSON {
		return a.PrintJSON(fetched{name, got.Place.Work, got.Commit, got.Tree, got.New, got.Saved, got.Edited})
	}
	a.Say("%s has the published files, in %s\n", name, status.Near(got.Place.Work))
	if got.Saved != "" {
		a.Say("the files that were there are saved as %s; git show %s:FILE prints one\n", got.Saved, got.Saved)
	}
	a.ShowSteps([]status.Step{{Command: "ferrus diff --branch " + name, Why: "shows what the task changed"},
		{Command: "ferrus status --branch " + name, Why: "shows its state"}})
	return nil
}
