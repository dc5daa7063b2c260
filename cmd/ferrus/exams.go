package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/rootfs"
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
		return bad(dir+" cannot be written: "+rootfs.Cause(err).Error(), "see to its mode, the disk and the mount")
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return bad(err.Error(), "see to the folder's mode")
	}
	return fine(dir + " is ours alone and can be written")
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
