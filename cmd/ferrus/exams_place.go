package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/proc"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

func lookGit(p *patient) finding {
	said, err := worktree.Version(p.ctx, p.place.Root)
	switch {
	case err != nil && !errors.Is(err, worktree.ErrNoGit):
		return bad(err.Error(), "")
	case err != nil:
		return noted("git is not found: the gate runs at every submit, and there are no diffs", "install git")
	case !worktree.Inside(p.ctx, p.place.Root):
		return noted(said+", but this is no repository: the gate runs at every submit, and there are no diffs",
			"git init")
	}
	return fine(said)
}

func lookConfig(p *patient) finding {
	conf, err := config.LoadFor(filepath.Join(p.place.Root, config.FileName))
	switch {
	case err != nil:
		return bad(err.Error(), "ferrus config explain lists every key")
	case conf.Checks.Commands == nil:
		return bad("names no checks: nothing can be submitted", nameChecks(p.place.Root))
	}
	programs := doubts(conf, p.place.Root) // the agents have exams of their own
	switch {
	case len(programs) > 0:
		return noted(strings.Join(programs, "; "), "install it, or correct ferrus.toml; ferrus config check reads it")
	case len(conf.Checks.Commands) == 0:
		return noted("commands = []: every check passes", "")
	}
	return fine(count(len(conf.Checks.Commands), "check", "checks") + ", every key sound")
}

func lookGate(p *patient) finding {
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
		return bad(explain(err).Message, explain(err).Remedy)
	}
	conf, err := e.Config()
	if err != nil {
		return finding{}
	}
	if diff := pinned.Diff(conf.Gate()); len(diff) > 0 {
		return bad(fmt.Sprintf("ferrus.toml is not what was pinned to %s: %s", j.last.State.TaskID, diff[0]),
			"ferrus config accept makes it hold; until then the pinned values do")
	}
	return fine("the one pinned to the task is that of ferrus.toml")
}

func lookFileSystem(p *patient) finding {
	if kind := networkDisk(p.place.Root); kind != "" {
		return bad(p.place.Root+" is on "+kind+": locks and syncs cannot be trusted there", "keep the project on a local disk")
	}
	return fine("local, as far as can be told")
}

// lookEmbedded finds repositories inside the project: of these only the commit is seen, not what was edited since.
func lookEmbedded(p *patient) finding {
	if !worktree.Inside(p.ctx, p.place.Root) {
		return finding{}
	}
	if checkIgnore(p.ctx, p.place.Root) != nil {
		return finding{} // git would wait at it; the exam of what git ignores says so
	}
	inside, err := worktree.Embedded(p.ctx, p.place.Root)
	if err != nil {
		return bad("git cannot list the files: "+err.Error(), "see whether git status works here")
	}
	if len(inside) == 0 {
		return fine("no repositories inside this one")
	}
	return noted(count(len(inside), "repository", "repositories")+" inside this one, "+inside[0]+
		" for one: checks and reviews see only their commits, not what is edited in them",
		"have work done there only if it is committed there")
}

func lookIgnored(p *patient) finding {
	if !worktree.Inside(p.ctx, p.place.Root) {
		return finding{}
	}
	if worktree.Tracked(p.ctx, p.place.Root, ".ferrus") {
		return bad("git tracks files of .ferrus: a checkout would overwrite the state", "git rm -r --cached .ferrus")
	}
	if err := checkIgnore(p.ctx, p.place.Root); err != nil {
		f := explain(err)
		return bad(f.Message, f.Remedy)
	}
	if !worktree.Ignored(p.ctx, p.place.Root, ".ferrus/journal.jsonl") {
		return bad("git does not ignore .ferrus", "ferrus doctor --fix adds /.ferrus/ to .gitignore")
	}
	return fine("git ignores .ferrus")
}

func mendIgnored(p *patient) (string, error) {
	if err := checkIgnore(p.ctx, p.place.Root); err != nil {
		return "", err
	}
	if worktree.Ignored(p.ctx, p.place.Root, ".ferrus/journal.jsonl") {
		return "", nil
	}
	return "added /.ferrus/ to .gitignore", ignore(p.place.Root)
}

// lookPath looks for what the agents' configurations start.
func lookPath(p *patient) finding {
	self, err := os.Executable()
	if err != nil {
		return finding{}
	}
	project := proc.WorkTree(p.place.Root)
	path, err := proc.LookPath("ferrus", os.Getenv("PATH"), project)
	if err != nil {
		path, err = proc.LookPath("ferrusd", os.Getenv("PATH"), project)
	}
	if err != nil {
		return noted("neither ferrus nor ferrusd is on PATH, where agents look for their server",
			"go install ./cmd/..., or name "+self+" in the agents' configuration")
	}
	return fine(cmp.Or(path, self))
}
