package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
)

func checkFolder(p *Context) Finding {
	dir := p.Place.Dir()
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Place.Forgotten():
		return Bad(dir+" is gone (git clean -fdx?)", "ferrus doctor{branch} --fix makes it again; the tasks are in the database")
	case errors.Is(err, fs.ErrNotExist):
		return Bad(dir+" is gone (git clean -fdx?)", "ferrus doctor{branch} --fix restores it from the hard-linked copy of the journal")
	case err != nil:
		return Bad(err.Error(), "check that the folder can be read")
	case !info.IsDir():
		return Bad(dir+" is a link or a file, not a folder",
			"remove it (ferrus does not follow links), then run ferrus init")
	case !rootfs.OwnedByUser(info):
		return Bad(dir+" belongs to another user", "run ferrus as that user, or change the owner with chown -R")
	case rootfs.OpenToOthers(info):
		return Bad(fmt.Sprintf("%s has mode %04o: other users can read it", dir, info.Mode().Perm()), "ferrus doctor{branch} --fix sets it to 0700")
	}
	if p.Place.Forgotten() {
		return Bad(project.SharedName+" is gone, which says that the tasks are in a database", "ferrus doctor{branch} --fix writes it again")
	}
	probe, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return Bad(dir+" cannot be written: "+rootfs.Cause(err).Error(), "check its mode, the disk and the mount")
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return Bad(err.Error(), "check the mode of the folder")
	}
	return Fine(dir + " is private and can be written")
}

func fixFolder(p *Context) (string, error) {
	info, err := os.Lstat(p.Place.Dir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() && p.Place.Forgotten() {
		return restoreFolder(p)
	}
	if err != nil || !info.IsDir() || !rootfs.OpenToOthers(info) {
		return "", err
	}
	return "set it to 0700", os.Chmod(p.Place.Dir(), 0o700)
}

// restoreFolder makes the folder again around what is left of the machine, and says what came back.
func restoreFolder(p *Context) (string, error) {
	restored, wrote, err := p.host.SetUp(p.Ctx, p.Place.Root)
	if err != nil {
		return "", err
	}
	said := "created a new one"
	switch {
	case restored && p.Place.InDatabase():
		said = "made it again; the tasks are in the database"
	case restored:
		said = "restored the journal from " + p.backup + ", and the generated files from it"
	}
	if slices.Contains(wrote, config.FileName) {
		said += "; " + config.FileName + " was missing too, and was created again"
	}
	return said, nil
}
