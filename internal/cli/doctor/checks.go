package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ferrus-go/ferrus/internal/cli"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// checks are all of them, in the order in which mending one helps the next.
var checks = []Check{
	{"git", checkGit, nil},
	{linksExam, checkLinks, fixLinks},
	{"folder", checkFolder, fixFolder},
	{"origin", checkOrigin, fixOrigin},
	{"upstream", checkUpstream, fixUpstream},
	{"journal", checkJournal, fixJournal},
	{"views", CheckViews, fixViews},
	{"second link", checkSecondLink, fixSecondLink},
	{"ferrus.toml", checkConfig, nil},
	{"gate", checkGate, nil},
	{"branches", checkBranches, fixBranches},
	{"archives", checkArchives, fixArchives},
	{"leftovers", checkLeftovers, fixLeftovers},
	{"checkouts", checkCheckouts, nil},
	{"moved files", checkMoves, fixMoves},
	{"file system", checkFileSystem, nil},
	{"git locks", checkGitLocks, fixGitLocks},
	{"embedded", checkEmbedded, nil},
	{"ignored", checkIgnored, fixIgnored},
	{"on PATH", checkPath, nil},
	{"supervisor", checkSupervisor, nil},
	{"executor", checkExecutor, nil},
	{"registered", checkRegistered, nil},
	{"tokens", checkTokens, nil},
	{"workflows.json", checkWorkflows, nil},
	{"pipelines", checkPipelines, nil},
}

func checkFolder(p *Context) finding {
	dir := p.Place.Dir()
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad(dir+" is gone (git clean -fdx?)", "ferrus doctor --fix restores it from the journal's second link")
	case err != nil:
		return bad(err.Error(), "see whether the folder can be read")
	case !info.IsDir():
		return bad(dir+" is no folder of its own, but a link or a file",
			"remove it (ferrus follows no links), then ferrus init")
	case !cli.OwnedByUser(info):
		return bad(dir+" belongs to another user", "run ferrus as that user, or give it to this one with chown -R")
	case cli.OpenToOthers(info):
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

func fixFolder(p *Context) (string, error) {
	info, err := os.Lstat(p.Place.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return restore(p)
	}
	if err != nil || !info.IsDir() || !cli.OpenToOthers(info) {
		return "", err
	}
	return "made it 0700", os.Chmod(p.Place.Dir(), 0o700)
}

// restore makes the folder again around what is left of the machine, and says what came back.
func restore(p *Context) (string, error) {
	did, err := setupcmd.SetUp(p.A, p.Ctx, p.Place.Root)
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
