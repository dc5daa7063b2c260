package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

func checkGit(p *Context) Finding {
	said, err := worktree.Version(p.Ctx, p.Place.Root)
	switch {
	case err != nil && !errors.Is(err, git.ErrNoGit):
		return Bad(err.Error(), "")
	case err != nil:
		return Noted("git is not installed: checks run again at every submit, and there are no diffs", "install git")
	case !worktree.Inside(p.Ctx, p.Place.Root):
		return Noted(said+", but this is not a repository: checks run again at every submit, and there are no diffs",
			"git init")
	}
	return Fine(said)
}

func checkGate(p *Context) Finding {
	j := p.journal()
	if j.err != nil || j.last == nil || j.last.State.TaskID == "" || !j.last.State.Underway() {
		return Finding{} // the next task gets ferrus.toml as it is then
	}
	e, err := p.Engine()
	if err != nil {
		return Finding{}
	}
	pinned, err := e.Gate(engine.After(j.last))
	if err != nil {
		return troubled(err)
	}
	conf, err := e.Config()
	if err != nil {
		return Finding{}
	}
	if diff := pinned.Diff(conf.Gate()); len(diff) > 0 {
		return Bad(fmt.Sprintf("ferrus.toml differs from what was frozen with %s: %s", j.last.State.TaskID, diff[0]),
			"ferrus config accept{branch} applies it; until then the frozen values are used")
	}
	return Fine("the task has the configuration of ferrus.toml")
}

// checkWritten looks whether the checks of the task, or of that of a branch, write files that they judge.
func checkWritten(p *Context) Finding {
	machines := []*Context{p}
	if p.Place.Branch == "" {
		names, _ := project.Branches(p.Place.Root) // checkBranches says why they cannot be read
		for _, name := range names {
			machines = append(machines, &Context{Ctx: p.Ctx, Place: project.At(p.Place.Root, name), host: p.host})
		}
	}
	for _, m := range machines {
		j := m.journal()
		if m != p && m.opened != nil {
			m.opened.Close()
		}
		if j.err != nil || j.last == nil || !j.last.State.Underway() {
			continue
		}
		check := j.last.State.Check
		if remedy := checkrun.WrittenDuring(check).Remedy(m.Place.Branch, checkrun.TheChecks, checkrun.IgnoreFile); remedy != "" {
			what := fmt.Sprintf("files changed while check %s ran, so that it does not count", check.ID)
			if m != p {
				what = "branch " + m.Place.Branch + ": " + what
			}
			return Bad(what, refusal.Say("%s", remedy))
		}
	}
	return Finding{}
}

func checkFileSystem(p *Context) Finding {
	if kind := networkDisk(p.Place.Root); kind != "" {
		return Bad(p.Place.Root+" is on "+kind+": locks and syncs are not reliable there", "keep the project on a local disk")
	}
	return Fine("local, as far as ferrus can see")
}

// checkEmbedded finds repositories inside the project: of these only the commit is seen, not what was edited since.
func checkEmbedded(p *Context) Finding {
	if !worktree.Inside(p.Ctx, p.Place.Root) {
		return Finding{}
	}
	if project.CheckIgnore(p.Ctx, p.Place.Root) != nil {
		return Finding{} // git would wait at it; the check of what git ignores says so
	}
	inside, err := worktree.Embedded(p.Ctx, p.Place.Root)
	if err != nil {
		return Bad("git cannot list the files: "+err.Error(), "check that git status works here")
	}
	if len(inside) == 0 {
		return Fine("no nested repositories")
	}
	return Noted(format.Count(len(inside), "repository", "repositories")+" inside this one, "+inside[0]+
		" for example: checks and reviews see only their commits, not edits in them",
		"commit work in them")
}

func checkIgnored(p *Context) Finding {
	if !worktree.Inside(p.Ctx, p.Place.Root) {
		return Finding{}
	}
	if worktree.Tracked(p.Ctx, p.Place.Root, ".ferrus") {
		return Bad("git tracks files of .ferrus: a checkout would overwrite the state", "git rm -r --cached .ferrus")
	}
	if err := project.CheckIgnore(p.Ctx, p.Place.Root); err != nil {
		return troubled(err)
	}
	if !worktree.Ignored(p.Ctx, p.Place.Root, ".ferrus/journal.jsonl") {
		return Bad("git does not ignore .ferrus", "ferrus doctor{branch} --fix adds /.ferrus/ to .gitignore")
	}
	return Fine("git ignores .ferrus")
}

func fixIgnored(p *Context) (string, error) {
	if err := project.CheckIgnore(p.Ctx, p.Place.Root); err != nil {
		return "", err
	}
	if worktree.Ignored(p.Ctx, p.Place.Root, ".ferrus/journal.jsonl") {
		return "", nil
	}
	return "added /.ferrus/ to .gitignore", project.Ignore(p.Place.Root)
}

// checkPath looks for what the agents' configurations start.
func checkPath(p *Context) Finding {
	self, err := os.Executable()
	if err != nil {
		return Finding{}
	}
	project := proc.WorkTree(p.Place.Root)
	path, err := proc.LookPath("ferrus", os.Getenv("PATH"), project)
	if err != nil {
		path, err = proc.LookPath("ferrusd", os.Getenv("PATH"), project)
	}
	if err != nil {
		return Noted("neither ferrus nor ferrusd is on PATH, where agents look for their server",
			refusal.Say("run go install ./cmd/..., or name %s in the agents' configuration", self))
	}
	return Fine(cmp.Or(path, self))
}
