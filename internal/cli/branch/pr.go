package branch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/forge"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/evidence"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A requesting is how a pull request is asked for.
type requesting struct {
	committing
	remote, base, as string
	yes              bool
}

// PrCommand is ferrus pr.
func PrCommand(a *cli.App) *cobra.Command {
	var how requesting
	cmd := &cobra.Command{
		Use:   "pr [BRANCH] [--yes]",
		Short: "Open a pull request with the approved work",
		Long: `Shows what it will do and asks. Then it pushes the approved work of the branch
as one commit and opens a pull request by gh, with your login. If "ferrus
commit" has committed the work, it pushes that commit. The text has the summary,
the checks with their durations, and the reviews. Run again, it updates the
branch and the text. Without gh it prints the commands.`,
		Example: `  ferrus pr
  ferrus pr fix-login
  ferrus pr fix-login --base v1 --yes`,
		Annotations: cli.Reference(`The branch of the remote is that of git, ferrus/BRANCH. For the project's own
task it is the branch that is checked out, or ferrus/TITLE where that is main,
master or trunk. git pushes with your own configuration and credentials, never
that of the repository, and runs no hook. A branch of the remote is replaced
only if this command has pushed its commit from here, or a later one of the same
history. If the remote is a fork, the pull request goes to the
repository that it is a fork of.

The commit is signed if your configuration says so. It is refused, as by "ferrus
commit", if the git configuration of the repository changed since the task was
created. Agents cannot use it.`, "number url repository branch base commit tree pushed opened."),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"as", "base", "remote"} {
				value := cmd.Flags().Lookup(name).Value.String()
				if cmd.Flags().Changed(name) && (value == "" || value[0] == '-' || repository.CheckName(value) != nil) {
					return cli.UsageError("use letters, digits, - and /", "--%s %q is not a name that git takes", name, value)
				}
			}
			if len(args) > 0 {
				a.Branch = args[0]
			}
			return pullRequest(a, cmd.Context(), how)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&how.as, "as", "", "push it as the branch `NAME` of the remote")
	flags.StringVar(&how.base, "base", "", "ask to pull it into `BRANCH` (default: the default branch of the repository)")
	flags.StringVar(&how.remote, "remote", "origin", "push to `REMOTE`")
	flags.BoolVar(&how.earlier, "with-earlier", false, withEarlier)
	flags.BoolVar(&how.yes, "yes", false, "do not ask")
	return cmd
}

func pullRequest(a *cli.App, ctx context.Context, how requesting) error {
	const cannot = "open a pull request"
	s, err := a.OpenAsPerson(ctx, "pr")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	o, err := branch.PrepareOutgoing(ctx, s, how.remote, how.as)
	if err != nil {
		return cli.CannotDo(cannot, "", err)
	}
	if err := agreeEarlier(a, o.Earlier, how.committing); err != nil {
		return err
	}
	repo, err := forge.At(o.Address)
	if err != nil {
		return cli.Refuse(refusal.InvalidInput, how.remote+" is "+o.Address+": "+err.Error(), "--remote NAME names another one; git remote -v lists them")
	}
	report, err := evidence.Read(ctx, s.Engine(), o.Task.TaskID)
	if err != nil {
		return err
	}
	title, body := format.OneLine(o.Task.Title, 250), report.PullRequest()
	said := &cli.LineWriter{Show: func(line string) { cli.Fprintf(a.Err, "%s%s\n", format.Bar, line) }}
	client, err := forge.Find(s.Engine().Place().Root)
	if err != nil { // nothing is pushed
		wrong := o.Make(ctx, said)
		said.Flush()
		if wrong != nil {
			return cli.CannotDo(cannot, "", wrong)
		}
		text, wrong := os.CreateTemp("", "ferrus-pr-*.md")
		if wrong == nil {
			_, wrong = text.WriteString(body)
			wrong = errors.Join(wrong, text.Close())
		}
		if wrong != nil {
			return wrong
		}
		a.Say("git push %s %s:refs/heads/%s\ngh pr create --repo %s --head %s --title %s --body-file %s\n", how.remote, o.Commit, o.Branch, repo.String(), o.Branch, git.ShellQuoted(title), text.Name())
		return cli.CannotDo(cannot, "", err)
	}
	working, end := a.Working(ctx, "asking "+repo.Host)
	defer end()
	to, err := client.Target(working, repo, o.Branch, how.base)
	old := forge.PullRequest{}
	if err == nil {
		old, err = client.Open(working, to)
	}
	end()
	if err != nil {
		return cli.CannotDo(cannot, "", failed(err))
	}
	if o.Branch == to.Base {
		return cli.Refuse(refusal.InvalidInput, o.Branch+" is the branch into which the work is to be pulled", "--as NAME pushes another branch")
	}
	if err := agreeToPush(a, o, to, old, title, how); err != nil {
		return err
	}
	return request(a, ctx, client, o, to, old, title, body, said)
}

// request pushes the work and opens or updates the pull request.
func request(a *cli.App, ctx context.Context, client forge.Client, o *branch.Outgoing, to forge.Target, old forge.PullRequest, title, body string, said *cli.LineWriter) error {
	err := o.Make(ctx, said)
	said.Flush()
	pushed := false
	working, end := a.Working(ctx, "pushing "+o.Branch)
	defer end()
	if err == nil {
		pushed, err = o.Push(working)
	}
	var p forge.PullRequest
	if err == nil {
		p, err = client.Write(working, to, old.Number, title, body)
	}
	end()
	if err == nil && p.Head.SHA != o.Commit {
		err = cli.Refuse(refusal.StoreError, fmt.Sprintf("%s has the commit %.12s, not the approved %.12s", p.URL, p.Head.SHA, o.Commit), "look at it: somebody else may have pushed; then run ferrus pr{branch} again")
	}
	if err != nil {
		return cli.CannotDo("open a pull request", "", failed(err))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"number": p.Number, "url": p.URL, "repository": to.String(), "branch": o.Branch, "base": to.Base,
			"commit": o.Commit, "tree": o.Task.Submission.Tree, "pushed": pushed, "opened": old.Number == 0})
	}
	did := "opened"
	if old.Number != 0 {
		did = "updated"
	}
	a.Say("%s #%d: %s\n", did, p.Number, p.URL)
	a.ShowSteps([]status.Step{{Command: "gh pr view " + p.URL, Why: "shows it"}})
	return nil
}

// agreeToPush shows what will be done, and asks.
func agreeToPush(a *cli.App, o *branch.Outgoing, to forge.Target, old forge.PullRequest, title string, how requesting) error {
	does := "open a pull request in " + to.String() + " into " + to.Base
	if old.Number != 0 {
		does = fmt.Sprintf("update #%d of %s", old.Number, to.String())
	}
	cli.Fprintf(a.Err, "push    the tree %.12s to the branch %s of %s\n", o.Task.Submission.Tree, o.Branch, o.Address)
	if o.Ahead > 0 {
		cli.Fprintf(a.Err, "        with %s that %s did not have when it was fetched last\n", format.Count(o.Ahead, "commit", "commits"), how.remote)
	}
	cli.Fprintf(a.Err, "then    %s: %s\n", does, title)
	if how.yes {
		return nil
	}
	if a.MayAsk() {
		cli.Fprintf(a.Err, "Do this? [y/N] ")
		if a.Agrees(false) {
			return nil
		}
	}
	return cli.Refuse(refusal.Conflict, "nothing was pushed: nobody agreed", "--yes agrees without a question")
}

// failed is an error of a forge as a refusal.
func failed(err error) error {
	if refusal.CodeOf(err) != "" {
		return err
	}
	return refusal.Because(refusal.StoreError, cmp.Or(err.Error(), "no answer"), nil, "correct what it names, then try again")
}
