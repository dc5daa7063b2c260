package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/store"
)

// exams are all of them, in the order in which mending one helps the next.
var exams = []exam{
	{"git", lookGit, nil},
	{linksExam, lookLinks, mendLinks},
	{"folder", lookFolder, mendFolder},
	{"origin", lookOrigin, mendOrigin},
	{"upstream", lookUpstream, mendUpstream},
	{"journal", lookJournal, mendJournal},
	{"views", lookViews, mendViews},
	{"second link", lookSecondLink, mendSecondLink},
	{"ferrus.toml", lookConfig, nil},
	{"gate", lookGate, nil},
	{"branches", lookBranches, mendBranches},
	{"archives", lookArchives, mendArchives},
	{"leftovers", lookLeftovers, mendLeftovers},
	{"checkouts", lookCheckouts, nil},
	{"moved files", lookMoves, mendMoves},
	{"file system", lookFileSystem, nil},
	{"git locks", lookGitLocks, mendGitLocks},
	{"embedded", lookEmbedded, nil},
	{"ignored", lookIgnored, mendIgnored},
	{"on PATH", lookPath, nil},
	{"supervisor", lookSupervisor, nil},
	{"executor", lookExecutor, nil},
	{"registered", lookRegistered, nil},
	{"tokens", lookTokens, nil},
	{"workflows.json", lookWorkflows, nil},
	{"pipelines", lookPipelines, nil},
}

func lookFolder(p *patient) finding {
	dir := p.place.Dir()
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad(dir+" is gone (git clean -fdx?)", "ferrus doctor --fix restores it from the journal's second link")
	case err != nil:
		return bad(err.Error(), "see whether the folder can be read")
	case !info.IsDir():
		return bad(dir+" is no folder of its own, but a link or a file",
			"remove it (ferrus follows no links), then ferrus init")
	case !ours(info):
		return bad(dir+" belongs to another user", "run ferrus as that user, or give it to this one with chown -R")
	case openToOthers(info):
		return bad(fmt.Sprintf("%s has mode %04o: others can look in", dir, info.Mode().Perm()), "ferrus doctor --fix makes it 0700")
	}
	probe, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return bad(dir+" cannot be written: "+cause(err), "see to its mode, the disk and the mount")
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return bad(err.Error(), "see to the folder's mode")
	}
	return fine(dir + " is ours alone and can be written")
}

// cause is an error without the name of what it befell.
func cause(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func mendFolder(p *patient) (string, error) {
	info, err := os.Lstat(p.place.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return restore(p)
	}
	if err != nil || !info.IsDir() || !openToOthers(info) {
		return "", err
	}
	return "made it 0700", os.Chmod(p.place.Dir(), 0o700)
}

// restore makes the folder again around what is left of the machine, and says what came back.
func restore(p *patient) (string, error) {
	did, err := p.a.setUp(p.ctx, p.place.Root)
	if err != nil {
		return "", err
	}
	said := "made a new one"
	if did.Restored {
		said = "the journal came back from " + p.backup + ", and all views from it"
	}
	if slices.Contains(did.Wrote, config.FileName) {
		said += "; " + config.FileName + " was gone too, and is a new one"
	}
	return said, nil
}

func lookJournal(p *patient) finding {
	if p.absent() {
		if exists(p.backup) {
			return bad("journal.jsonl is missing, and its second link is there", "ferrus doctor --fix puts it back")
		}
		return bad("journal.jsonl is missing, and there is no second link to it",
			"bring it back from a backup; or move "+p.place.Dir()+" away and run ferrus init")
	}
	j := p.journal()
	switch {
	case engine.CodeOf(j.err) == engine.Corrupt:
		f := bad(explain(j.err).Message+", after "+count(j.lines, "event", "events")+" that are sound",
			"nothing was touched. The second link is the same file and cannot help. Bring journal.jsonl back from a backup, or set it "+
				"aside and begin anew: "+aside(p))
		f.corrupt = true
		return f
	case j.err != nil:
		return bad(explain(j.err).Message, explain(j.err).Remedy)
	case j.size > j.end():
		return bad(fmt.Sprintf("%d bytes after the last whole line: a crash has left them", j.size-j.end()),
			"the next command cuts them, and so does ferrus doctor --fix; a copy is kept in logs/")
	}
	return fine(count(j.lines, "event", "events") + ", every hash and link sound")
}

// aside is how a person sets a machine aside whose journal is beyond help.
func aside(p *patient) string {
	// Beside the project: in the work tree it would be part of every diff.
	move := fmt.Sprintf("mv %s %s.ferrus-corrupt", p.place.Dir(), p.place.Root)
	if exists(p.backup) {
		move += fmt.Sprintf(" && mv %s %s.corrupt", p.backup, p.backup)
	}
	return move + " && ferrus init"
}

func mendJournal(p *patient) (string, error) {
	if p.absent() {
		if !exists(p.backup) {
			return "", nil
		}
		return restore(p)
	}
	if j := p.journal(); j.err != nil || j.size == j.end() {
		return "", nil
	}
	return "cut the torn end; its copy is in logs/", p.load()
}

// load has the store load the machine under its lock, which makes again what is not as the journal says.
func (p *patient) load() error {
	e, err := p.engine()
	if err == nil {
		_, err = e.Store().Apply(p.ctx, func(store.Snapshot) (*store.Change, error) { return nil, nil })
	}
	return err
}

func lookSecondLink(p *patient) finding {
	if p.backup == "" {
		return noted("no git, so the journal has no second link: a deleted .ferrus cannot be restored", "")
	}
	here, err := os.Lstat(p.file("journal.jsonl"))
	if err != nil {
		return finding{}
	}
	there, err := os.Lstat(p.backup)
	switch {
	case err == nil && os.SameFile(here, there):
		return fine(p.backup)
	case err == nil:
		return bad(p.backup+" is another file than the journal", "ferrus doctor --fix sets it aside and links the journal")
	}
	return bad(p.backup+" is missing: git clean -fdx would lose the tasks", "ferrus doctor --fix links the journal")
}

func mendSecondLink(p *patient) (string, error) {
	if p.backup == "" || p.absent() || p.place.Branch != "" {
		return "", nil
	}
	if _, err := engine.Init(p.place.Root); err != nil {
		return "", err
	}
	return "linked the journal in " + filepath.Dir(p.backup), nil
}
