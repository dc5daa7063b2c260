package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

func checkGit(p *Context) finding {
	said, err := worktree.Version(p.Ctx, p.Place.Root)
	switch {
	case err != nil && !errors.Is(err, git.ErrNoGit):
		return bad(err.Error(), "")
	case err != nil:
		return noted("git is not installed: checks run again at every submit, and there are no diffs", "install git")
	case !worktree.Inside(p.Ctx, p.Place.Root):
		return noted(said+", but this is not a repository: checks run again at every submit, and there are no diffs",
			"git init")
	}
	return fine(said)
}

func checkConfig(p *Context) finding {
	conf, err := config.LoadFor(filepath.Join(p.Place.Root, config.FileName))
	switch {
	case err != nil:
		return bad(err.Error(), "ferrus config explain lists every key")
	case conf.Checks.Commands == nil:
		return bad("names no checks: nothing can be submitted", cli.SuggestChecks(p.Place.Root))
	}
	programs := cli.ConfigWarnings(conf, p.Place.Root) // the agents have exams of their own
	switch {
	case len(programs) > 0:
		return noted(strings.Join(programs, "; "), "install it, or correct ferrus.toml; ferrus config check reads it")
	case len(conf.Checks.Commands) == 0:
		return noted("commands = []: every check passes", "")
	}
	return fine(format.Count(len(conf.Checks.Commands), "check", "checks") + ", every key valid")
}

func checkGate(p *Context) finding {
	j := p.journal()
	if j.err != nil || j.last == nil || j.last.State.TaskID == "" || !j.last.State.Underway() {
		return finding{} // the next task gets ferrus.toml as it is then
	}
	e, err := p.engine()
	if err != nil {
		return finding{}
	}
	pinned, err := e.Gate(engine.After(j.last))
	if err != nil {
		return bad(cli.Explain(err).Message, cli.Explain(err).Remedy)
	}
	conf, err := e.Config()
	if err != nil {
		return finding{}
	}
	if diff := pinned.Diff(conf.Gate()); len(diff) > 0 {
		return bad(fmt.Sprintf("ferrus.toml differs from what was frozen with %s: %s", j.last.State.TaskID, diff[0]),
			"ferrus config accept applies it; until then the frozen values are used")
	}
	return fine("the task has the configuration of ferrus.toml")
}

func checkFileSystem(p *Context) finding {
	if kind := networkDisk(p.Place.Root); kind != "" {
		return bad(p.Place.Root+" is on "+kind+": locks and syncs are not reliable there", "keep the project on a local disk")
	}
	return fine("local, as far as ferrus can see")
}

// checkEmbedded finds repositories inside the project: of these only the commit is seen, not what was edited since.
func checkEmbedded(p *Context) finding {
	if !worktree.Inside(p.Ctx, p.Place.Root) {
		return finding{}
	}
	if setupcmd.CheckIgnore(p.Ctx, p.Place.Root) != nil {
		return finding{} // git would wait at it; the exam of what git ignores says so
	}
	inside, err := worktree.Embedded(p.Ctx, p.Place.Root)
	if err != nil {
		return bad("git cannot list the files: "+err.Error(), "check that git status works here")
	}
	if len(inside) == 0 {
		return fine("no nested repositories")
	}
	return noted(format.Count(len(inside), "repository", "repositories")+" inside this one, "+inside[0]+
		" for example: checks and reviews see only their commits, not edits in them",
		"commit work in them")
}

func checkIgnored(p *Context) finding {
	if !worktree.Inside(p.Ctx, p.Place.Root) {
		return finding{}
	}
	if worktree.Tracked(p.Ctx, p.Place.Root, ".ferrus") {
		return bad("git tracks files of .ferrus: a checkout would overwrite the state", "git rm -r --cached .ferrus")
	}
	if err := setupcmd.CheckIgnore(p.Ctx, p.Place.Root); err != nil {
		f := cli.Explain(err)
		return bad(f.Message, f.Remedy)
	}
	if !worktree.Ignored(p.Ctx, p.Place.Root, ".ferrus/journal.jsonl") {
		return bad("git does not ignore .ferrus", "ferrus doctor --fix adds /.ferrus/ to .gitignore")
	}
	return fine("git ignores .ferrus")
}

func fixIgnored(p *Context) (string, error) {
	if err := setupcmd.CheckIgnore(p.Ctx, p.Place.Root); err != nil {
		return "", err
	}
	if worktree.Ignored(p.Ctx, p.Place.Root, ".ferrus/journal.jsonl") {
		return "", nil
	}
	return "added /.ferrus/ to .gitignore", setupcmd.Ignore(p.Place.Root)
}

// checkPath looks for what the agents' configurations start.
func checkPath(p *Context) finding {
	self, err := os.Executable()
	if err != nil {
		return finding{}
	}
	project := proc.WorkTree(p.Place.Root)
	path, err := proc.LookPath("ferrus", os.Getenv("PATH"), project)
	if err != nil {
		path, err = proc.LookPath("ferrusd", os.Getenv("PATH"), project)
	}
	if err != nil {
		return noted("neither ferrus nor ferrusd is on PATH, where agents look for their server",
			"run go install ./cmd/..., or name "+self+" in the agents' configuration")
	}
	return fine(cmp.Or(path, self))
}
