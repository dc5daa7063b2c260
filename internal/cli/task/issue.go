package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/forge"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

// queueIssue adds an issue of a forge to the queue. Its name in the queue is made of its number, so that it is one task however often it is
// taken, until its branch is removed.
func queueIssue(a *cli.App, ctx context.Context, word string) error {
	const cannot = "take the issue"
	if err := a.RefuseAgent("queue --from-issue"); err != nil {
		return err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	place = project.At(place.Root, "")
	here := func() (forge.Repository, error) {
		tree, err := worktree.Open(ctx, place.Root, place.Path("git"), worktree.Options{})
		if err != nil {
			return forge.Repository{}, err
		}
		at, err := remote.Named(ctx, tree.Repository, "origin")
		if err != nil {
			return forge.Repository{}, err
		}
		return forge.At(at.PushAddress())
	}
	issue, err := forge.IssueAt(word, here)
	if err != nil {
		return cli.Refuse(refusal.InvalidInput, err.Error(), "ferrus queue --from-issue https://github.com/OWNER/NAME/issues/42")
	}
	name := fmt.Sprintf("issue-%d", issue.Number)
	if own, err := here(); err != nil || own != issue.Repository {
		name = strings.Trim(strings.ToLower(fmt.Sprintf("%s-%s-%d", issue.Owner, issue.Name, issue.Number)), ".-")
	}
	said := func(it queue.Item, added bool) error {
		switch {
		case a.JSON:
			return a.PrintJSON(map[string]any{"name": name, "url": issue.URL(), "added": added})
		case !added:
			a.Say("%s is a task already; nothing was added\n", name)
			return nil
		}
		a.Say("%s waits: %s\n", name, format.Clip(it.Title(), 100))
		a.ShowSteps([]status.Step{{Command: "ferrus queue --show " + name, Why: "shows its text; read it, because others wrote it"}, {Command: place.RunAll("2"), Why: "starts what waits"}})
		return nil
	}
	_, waits := queue.Find(place.Dir(), name)
	if _, taken := place.On(name); waits == nil || taken == nil {
		return said(queue.Item{}, false)
	}
	client, err := forge.Find(place.Root)
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	asking, end := a.Working(ctx, "asking "+issue.Host)
	defer end()
	text, err := client.Task(asking, issue)
	end()
	if refusal.CodeOf(err) == "" && err != nil {
		err = cli.Refuse(refusal.StoreError, err.Error(), "look at the issue in a browser")
	}
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	it, err := queue.Put(place.Dir(), name, text)
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	if it.Name != name { // it was taken meanwhile
		if err := queue.Remove(it); err != nil {
			return cli.CannotDo(cannot, "", err)
		}
	}
	return said(it, it.Name == name)
}
