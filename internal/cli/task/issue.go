package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

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

// maxTaken is how many issues are taken at a time.
const maxTaken = 50

// An intake takes issues of a forge into the queue.
type intake struct {
	a     *cli.App
	place project.Place // the project's own
	own   func() (forge.Repository, error)
}

// intakeOf is that of a person, for whom a flag of ferrus queue stands.
func intakeOf(a *cli.App, ctx context.Context, flag string) (*intake, error) {
	if err := a.RefuseAgent("queue " + flag); err != nil {
		return nil, err
	}
	place, err := a.Place(ctx)
	if err != nil {
		return nil, err
	}
	in := &intake{a: a, place: project.At(place.Root, "")}
	in.own = sync.OnceValues(func() (forge.Repository, error) {
		tree, err := worktree.Open(ctx, in.place.Root, in.place.Path("git"), worktree.Options{})
		if err != nil {
			return forge.Repository{}, err
		}
		at, err := remote.Named(ctx, tree.Repository, "origin")
		if err != nil {
			return forge.Repository{}, err
		}
		return forge.At(at.PushAddress())
	})
	return in, nil
}

// name is that of an issue in the queue. It is made of its number, so that it is one task however often it is taken.
func (in *intake) name(issue forge.Issue) string {
	if own, err := in.own(); err == nil && own.Same(issue.Repository) {
		return fmt.Sprintf("issue-%d", issue.Number)
	}
	return strings.Trim(strings.ToLower(fmt.Sprintf("%s-%s-%d", issue.Owner, issue.Name, issue.Number)), ".-")
}

// has reports whether a task of the name waits or has a branch.
func (in *intake) has(name string) bool {
	_, waits := queue.Find(in.place.Dir(), name)
	_, taken := in.place.On(name)
	return waits == nil || taken == nil
}

// add adds an issue to the queue under its name, and returns the zero Item where it has been a task before.
func (in *intake) add(ctx context.Context, client forge.Client, issue forge.Issue, name string) (queue.Item, error) {
	asking, end := in.a.Working(ctx, "asking "+issue.Host)
	defer end()
	text, err := client.Task(asking, issue)
	end()
	if err != nil {
		return queue.Item{}, err
	}
	return queue.PutIssue(in.place.Dir(), name, text, issue.URL())
}

// say says what has become of an issue.
func (in *intake) say(name string, it queue.Item) {
	if it.Name == "" {
		in.a.Say("%s is a task already, or was one; nothing was added\n", name)
		return
	}
	in.a.Say("%s waits: %s\n", name, format.Clip(it.Title(), 100))
}

// next shows what to do with a task that was added.
func (in *intake) next(name string) {
	in.a.ShowSteps([]status.Step{{Command: "ferrus queue --show " + name, Why: "shows its text; read it, because others wrote it"},
		{Command: in.place.RunAll("2"), Why: "starts what waits"}})
}

// queueIssue adds an issue of a forge to the queue.
func queueIssue(a *cli.App, ctx context.Context, word string) error {
	const cannot = "take the issue"
	in, err := intakeOf(a, ctx, "--from-issue")
	if err != nil {
		return err
	}
	issue, err := forge.IssueAt(word, in.own)
	if err != nil {
		return cli.Refuse(refusal.InvalidInput, err.Error(), "ferrus queue --from-issue https://github.com/OWNER/NAME/issues/42")
	}
	name, it := in.name(issue), queue.Item{}
	if !in.has(name) {
		client, err := forge.Find(in.place.Root)
		if err == nil {
			it, err = in.add(ctx, client, issue, name)
		}
		if err != nil {
			return cli.CannotDo(cannot, "", err)
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": name, "url": issue.URL(), "added": it.Name != ""})
	}
	in.say(name, it)
	if it.Name != "" {
		in.next(name)
	}
	return nil
}

// A taking is what became of an issue that a search has found.
type taking struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Added bool   `json:"added"`
	Error string `json:"error,omitempty"` // why it could not be read or added
}

// take adds an issue that a search has found, and says so.
func (in *intake) take(ctx context.Context, client forge.Client, issue forge.Issue) taking {
	t, it, err := taking{Name: in.name(issue), URL: issue.URL()}, queue.Item{}, error(nil)
	if !in.has(t.Name) {
		it, err = in.add(ctx, client, issue, t.Name)
	}
	if t.Added = it.Name != ""; err != nil {
		t.Error = err.Error()
	}
	switch {
	case in.a.JSON:
	case err != nil:
		cli.Fprintf(in.a.Err, "%s is not added: %s\n", t.Name, format.Line(t.Error))
	default:
		in.say(t.Name, it)
	}
	return t
}

// takeFound takes what a search finds, [maxTaken] issues at a time, and returns how many more it finds. One that cannot be read does not stop the others.
func (in *intake) takeFound(ctx context.Context, client forge.Client, search forge.Search) (list []taking, more int, err error) {
	tried := 0
	for page, left := 1, 1; left > 0; page++ {
		asking, end := in.a.Working(ctx, "asking "+search.Host)
		found, after, err := client.Search(asking, search, page)
		end()
		if err != nil {
			return list, 0, err
		}
		left = after
		for i, issue := range found {
			if tried == maxTaken {
				return list, len(found) - i + left, nil
			}
			t := in.take(ctx, client, issue)
			if ctx.Err() != nil {
				return list, 0, ctx.Err()
			}
			if t.Added || t.Error != "" {
				tried++
			}
			list = append(list, t)
		}
	}
	return list, 0, nil
}

// queueIssues adds the issues to the queue that a search of a person finds and that have not been tasks before.
func queueIssues(a *cli.App, ctx context.Context, query string) error {
	const cannot = "take the issues"
	in, err := intakeOf(a, ctx, "--from-issues")
	if err != nil {
		return err
	}
	search, err := forge.SearchFor(query, in.own)
	if err != nil {
		return cli.Refuse(refusal.InvalidInput, err.Error(), `ferrus queue --from-issues "repo:OWNER/NAME label:ferrus"`)
	}
	client, err := forge.Find(in.place.Root)
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	list, more, err := in.takeFound(ctx, client, search)
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	added, failed, first := 0, 0, ""
	for _, t := range list {
		if t.Error != "" {
			failed++
		}
		if t.Added {
			added++
			first = cmp.Or(first, t.Name)
		}
	}
	if a.JSON {
		err = a.PrintJSON(map[string]any{"issues": append([]taking{}, list...), "added": added, "more": more})
	} else {
		a.Say("%s added\n", format.Count(added, "issue was", "issues were"))
		if more > 0 {
			a.Say("%s found; the same command takes the next\n", format.Count(more, "more was", "more were"))
		}
	}
	if first != "" && !a.JSON {
		in.next(first)
	}
	if err == nil && failed > 0 {
		err = cli.Refuse(refusal.StoreError, format.Count(failed, "issue", "issues")+" could not be taken", "the same command tries again")
	}
	return err
}
