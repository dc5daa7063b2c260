package branch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
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
	yes, watch       bool
	every            time.Duration // it asks the forge while it watches
}

// PrCommand is ferrus pr.
func PrCommand(a *cli.App) *cobra.Command {
	var how requesting
	cmd := &cobra.Command{
		Use:   "pr [BRANCH] [--yes] [--watch]",
		Short: "Open a pull request with the approved work",
		Long: `Shows what it will do and asks. Then it pushes the approved work of the branch
as one commit, or the commit of "ferrus commit". It opens a pull request by gh,
with your login. The text has the summary, the checks and the reviews. Run
again, it updates both. Without gh it prints the commands. With --watch it stays
until that is merged or closed. Failing checks and comments of members reopen
the task, and what is approved anew is pushed.`,
		Example: `  ferrus pr
  ferrus pr fix-login --watch
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
created. Agents cannot use it.

--watch asks the forge each 30 seconds. It reopens the task at most as often as
limits.max_review_cycles says, then it ends. It feeds no check back while one of
the head commit runs, and nothing while the task is worked on. It feeds back
what owners, members and collaborators write, and nothing of others or bots.`, `number url repository branch base commit tree pushed opened. With --watch,
one such object in a line, with kind and at, and one for each event: kind at
text, and urls[] of what was fed back.`),
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
	flags.BoolVarP(&how.watch, "watch", "w", false, "stay, and reopen the task for failing checks and comments")
	flags.DurationVar(&how.every, everyFlag, 30*time.Second, "with --watch: ask each `DURATION`")
	_ = flags.MarkHidden(everyFlag)
	return cmd
}

const cannotOpen = "open a pull request"

// A pulling is a pull request that is being opened or updated.
type pulling struct {
	a    *cli.App
	how  requesting
	s    *engine.Session
	said *cli.LineWriter // what the signing prints

	client forge.Client
	repo   forge.Repository // to which the branch is pushed
	to     forge.Target
	old    forge.PullRequest // that is updated; the zero one is opened

	o      *branch.Outgoing
	title  string
	report *evidence.Report
	opened bool
}

func pullRequest(a *cli.App, ctx context.Context, how requesting) error {
	s, err := a.OpenAsPerson(ctx, "pr")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	p := &pulling{a: a, how: how, s: s, said: &cli.LineWriter{Show: func(line string) { cli.Fprintf(a.Err, "%s%s\n", format.Bar, line) }}}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	most := 0
	if how.watch {
		if most, err = reopenings(s.Engine()); err != nil {
			return err
		}
	}
	if p.client, err = forge.Find(s.Engine().Place().Root); err != nil { // nothing is pushed
		return p.commands(ctx, err)
	}
	if err := p.find(ctx); err != nil {
		return err
	}
	if err := p.agree(most); err != nil {
		return err
	}
	pushed, err := p.write(ctx)
	if err == nil && p.old.Head.SHA != p.o.Commit {
		err = cli.CannotDo(cannotOpen, "", cli.Refuse(refusal.StoreError, fmt.Sprintf("%s has the commit %.12s, not the approved %.12s", p.old.URL, p.old.Head.SHA, p.o.Commit),
			"look at it: somebody else may have pushed; then run ferrus pr{branch} again"))
	}
	switch {
	case err != nil:
		return err
	case how.watch:
		return watch(ctx, p, pushed, most)
	}
	return p.show(pushed)
}

// prepare takes the approved work and the text for it.
func (p *pulling) prepare(ctx context.Context) (err error) {
	if p.o, err = branch.PrepareOutgoing(ctx, p.s, p.how.remote, p.how.as); err != nil {
		return cli.CannotDo(cannotOpen, "", err)
	}
	if err := agreeEarlier(p.a, p.o.Earlier, p.how.committing); err != nil {
		return err
	}
	if p.repo, err = forge.At(p.o.Address); err != nil {
		return cli.Refuse(refusal.InvalidInput, p.how.remote+" is "+p.o.Address+": "+err.Error(), "--remote NAME names another one; git remote -v lists them")
	}
	p.title = format.OneLine(p.o.Task.Title, 250)
	p.report, err = evidence.Read(ctx, p.s.Engine(), p.o.Task.TaskID)
	return err
}

// commands prints what opens the pull request by hand, because there is no client.
func (p *pulling) commands(ctx context.Context, none error) error {
	err := p.o.Make(ctx, p.said)
	p.said.Flush()
	if err != nil {
		return cli.CannotDo(cannotOpen, "", err)
	}
	text, err := os.CreateTemp("", "ferrus-pr-*.md")
	if err == nil {
		_, err = text.WriteString(p.report.PullRequest(forge.Closing(p.o.Task.Issue, p.repo)))
		err = errors.Join(err, text.Close())
	}
	if err != nil {
		return err
	}
	p.a.Say("git push %s %s:refs/heads/%s\ngh pr create --repo %s --head %s --title %s --body-file %s\n", p.how.remote, p.o.Commit, p.o.Branch, p.repo.String(), p.o.Branch, git.ShellQuoted(p.title), text.Name())
	return cli.CannotDo(cannotOpen, "", none)
}

// find asks where the pull request goes, and whether there is one.
func (p *pulling) find(ctx context.Context) (err error) {
	working, end := p.a.Working(ctx, "asking "+p.repo.Host)
	defer end()
	if p.to, err = p.client.Target(working, p.repo, p.o.Branch, p.how.base); err == nil {
		p.old, err = p.client.Open(working, p.to)
	}
	end()
	if err != nil {
		return cli.CannotDo(cannotOpen, "", err)
	}
	if p.o.Branch == p.to.Base {
		return cli.Refuse(refusal.InvalidInput, p.o.Branch+" is the branch into which the work is to be pulled", "--as NAME pushes another branch")
	}
	return nil
}

// write pushes the work and opens or updates the pull request, which is the old one then.
func (p *pulling) write(ctx context.Context) (pushed bool, err error) {
	err = p.o.Make(ctx, p.said)
	p.said.Flush()
	working, end := p.a.Working(ctx, "pushing "+p.o.Branch)
	defer end()
	if err == nil {
		pushed, err = p.o.Push(working)
	}
	var now forge.PullRequest
	if err == nil {
		now, err = p.client.Write(working, p.to, p.old.Number, p.title, p.report.PullRequest(p.closing()))
	}
	end()
	if err != nil {
		return pushed, cli.CannotDo(cannotOpen, "", err)
	}
	p.opened, p.old = p.old.Number == 0, now
	return pushed, nil
}

// closing is the line by which the forge closes the issue of the task with the merge, "" for none.
func (p *pulling) closing() string { return forge.Closing(p.o.Task.Issue, p.to.Repository) }

// facts are those of a pull request that was written, for a program.
func (p *pulling) facts(pushed bool) map[string]any {
	return map[string]any{"number": p.old.Number, "url": p.old.URL, "repository": p.to.String(), "branch": p.o.Branch, "base": p.to.Base,
		"commit": p.o.Commit, "tree": p.o.Task.Submission.Tree, "pushed": pushed, "opened": p.opened}
}

// did says what became of the pull request.
func (p *pulling) did() string {
	did := "updated"
	if p.opened {
		did = "opened"
	}
	return fmt.Sprintf("%s #%d: %s", did, p.old.Number, p.old.URL)
}

func (p *pulling) show(pushed bool) error {
	if p.a.JSON {
		return p.a.PrintJSON(p.facts(pushed))
	}
	p.a.Say("%s\n", p.did())
	p.a.ShowSteps([]status.Step{{Command: "gh pr view " + p.old.URL, Why: "shows it"}})
	return nil
}

// agree shows what will be done, and asks. most is how often the task is reopened while it watches.
func (p *pulling) agree(most int) error {
	does := "open a pull request in " + p.to.String() + " into " + p.to.Base
	if p.old.Number != 0 {
		does = fmt.Sprintf("update #%d of %s", p.old.Number, p.to.String())
	}
	cli.Fprintf(p.a.Err, "push    the tree %.12s to the branch %s of %s\n", p.o.Task.Submission.Tree, p.o.Branch, p.o.Address)
	if p.o.Ahead > 0 {
		cli.Fprintf(p.a.Err, "        with %s that %s did not have when it was fetched last\n", format.Count(p.o.Ahead, "commit", "commits"), p.how.remote)
	}
	cli.Fprintf(p.a.Err, "then    %s: %s\n", does, p.title)
	if closing := p.closing(); closing != "" {
		cli.Fprintf(p.a.Err, "        its text has the line: %s\n", closing)
	}
	if p.how.watch {
		cli.Fprintf(p.a.Err, "watch   failing checks and comments of members reopen the task, at most %s in all,\n        and what is approved anew is pushed, at most %s\n", format.Count(most, "time", "times"), format.Count(most, "time", "times"))
	}
	if p.how.yes {
		return nil
	}
	if p.a.MayAsk() {
		cli.Fprintf(p.a.Err, "Do this? [y/N] ")
		if p.a.Agrees(false) {
			return nil
		}
	}
	return cli.Refuse(refusal.Conflict, "nothing was pushed: nobody agreed", "--yes agrees without a question")
}
