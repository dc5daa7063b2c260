package setup

import (
	"context"
	"os"
	"regexp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// rehearse runs the set-up and the checks of ferrus.toml once, in a fresh work tree and in the sandbox that the checks will have. Nobody
// is asked: what no person has agreed to is refused.
func rehearse(a *cli.App, ctx context.Context) (*engine.Rehearsal, error) {
	e, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	conf, err := cli.ValidConfig(e)
	if err != nil {
		return nil, err
	}
	if len(conf.Checks.Commands) == 0 {
		return nil, cli.Refuse(refusal.InvalidInput, "there is nothing to rehearse: ferrus.toml names no checks", refusal.Say("%s", cli.SuggestChecks(e.Place().Root)))
	}
	if !worktree.Inside(ctx, e.Place().Root) {
		return nil, cli.Refuse(refusal.InvalidInput, "a rehearsal needs a git repository, and there is none here", "git init, then ferrus init --rehearse; or ferrus check{branch}, which runs the checks in this folder")
	}
	sandboxed := false
	if agent, err := agents.Find(conf.HQ.Executor.Agent); err == nil {
		sandboxed = plan.Sandboxed(ctx, conf.Gate(), e.Place(), agent, os.Environ())
	}
	following, end := a.Working(ctx, "rehearsing the set-up and the checks")
	defer end()
	r, err := e.Rehearse(following, sandboxed)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// A need is what commands that failed probably lack, by what they printed.
type need struct {
	printed func() *regexp.Regexp
	inside  bool // only in a sandbox without a network
	text    string
	lines   string // of ferrus.toml, which give it to them
}

var needs = []need{
	{safetext.Lazily(`(?i)docker\.sock|podman\.sock|/var/run/\S+\.sock|connect\S* .*\.sock`), false, "a socket of this machine, which no sandbox lets them reach; without a sandbox:",
		config.Lines("checks.sandbox", config.NoSandbox) + "\n" + config.Lines("hq.executor.sandbox", config.NoSandbox)},
	{safetext.Lazily(`(?i)ENOTFOUND|EAI_AGAIN|getaddrinfo|could not resolve|name resolution|name or service not known|no such host|network is unreachable|ENETUNREACH|ECONNREFUSED|connection refused|failed to (connect|download|fetch)|dial tcp|max retries exceeded`),
		true, "the network, which the sandbox takes away; to leave it on:", config.Lines("checks.network", true)},
	{safetext.Lazily(`(?i)not a git repository`), false, "a git repository: a rehearsal has only its files; these run them in yours:", ""},
}

// show shows a rehearsal with all that failed, and what to do.
func showRehearsal(a *cli.App, r engine.Rehearsal) {
	where := "without a sandbox"
	switch {
	case r.Sandbox && r.Network:
		where = "in their sandbox"
	case r.Sandbox:
		where = "in their sandbox, without a network"
	}
	failed := r.Checks
	is := func(colour, word, text string) { a.ShowRow("rehearsal", a.Paint(colour, word)+cli.Styled(text)) }
	switch {
	case r.Passed:
		is(cli.Green, "passed", " in a fresh work tree, "+where+": "+format.Count(len(r.Checks.Commands), "check", "checks")+" in "+format.Duration(r.Checks.Duration))
	case r.SetUp != nil:
		failed = *r.SetUp
		is(cli.Red, "failed", ": the set-up of a fresh work tree failed, and no check has run; the whole output is "+trust.Visible(r.Log))
	case r.Checks.Status == checks.Passed:
		is(cli.Red, "failed", ": the checks passed, and wrote files that they judge, so that no check of an executor would count")
	default:
		is(cli.Red, "failed", " in a fresh work tree, "+where+"; the whole output is "+trust.Visible(r.Log))
	}
	printed := failed.Err
	for _, c := range failed.Failures() {
		a.Say("  %s  %s\n", a.Paint(cli.Red, "FAIL"), cli.Outcome(c))
		if c.Tail != "" {
			a.Say("%s\n", format.Frame(c.Tail, "      "))
		}
		printed += "\n" + c.Tail
	}
	if failed.Err != "" {
		a.Say("  %s\n", format.IndentRest(failed.Err))
	}
	for _, of := range []struct {
		list []string
		text string
	}{{r.Edited, "the checks changed these files of the tree; let them leave the files as they are, or add to [checks] ignore in ferrus.toml:"},
		{r.Wrote, "the checks wrote into the tree; lines for .gitignore:"},
		{r.Made, "the set-up wrote into the tree, which would be part of every patch; lines for .gitignore:"}} {
		if len(of.list) > 0 {
			a.ShowRow("written", of.text)
			for _, line := range of.list[:min(len(of.list), maxShown)] {
				a.Say("                %s\n", format.Line(line))
			}
		}
	}
	for _, n := range needs {
		if !r.Passed && n.printed().MatchString(printed) && (!n.inside || !r.Network) {
			lines := n.lines
			if lines == "" {
				lines = a.Commands("ferrus check{branch}")
			}
			a.ShowRow("probably", "they need "+n.text)
			a.Say("%s\n", format.Indent(lines, "                "))
		}
	}
	if !r.Passed {
		edit := status.Step{Command: "$EDITOR ferrus.toml", Why: "correct the commands, then ferrus trust"}
		if r.Checks.Status == checks.Passed && len(r.Edited) == 0 {
			edit = status.Step{Command: "$EDITOR .gitignore", Why: "add the lines"}
		}
		a.ShowSteps([]status.Step{edit, {Command: "ferrus init --rehearse", Why: "tries again in a fresh work tree"},
			{Command: `ferrus run "what is to be done"`, Why: "if making the checks pass is the task; it asks once whether to start"}})
	}
}

// maxShown is how many lines for a .gitignore are shown.
const maxShown = 10
