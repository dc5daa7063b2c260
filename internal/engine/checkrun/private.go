package checkrun

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A kind of checks. One check of each kind can run at a time, beside those of the others. The locks are relative to the .ferrus
// folder, the folders to that of the machine.
type kind struct {
	lock     string // that the helper of the check holds
	setup    string // lock of the set-up of its checkout
	tmp      string // folder for temporary files
	cargo    string // folder of cargo
	home     string // home folder
	confined bool   // checks that follow the executor run in a sandbox, though no executor has worked in one
}

var (
	ofTask  = kind{"live/check.lock", "live/setup.lock", privateDir + "/tmp/task", privateDir + "/cargo/task", privateDir + "/home/task", false}
	ofTrial = kind{"live/check-trial.lock", "live/setup-trial.lock", privateDir + "/tmp/trial", privateDir + "/cargo/trial", privateDir + "/home/trial", true}
	byHand  = kind{"live/check-by-hand.lock", "live/setup-by-hand.lock", privateDir + "/tmp/by-hand", privateDir + "/cargo/by-hand", privateDir + "/home/by-hand", false}
)

func (t Target) kind() kind {
	switch {
	case t.Trial:
		return ofTrial
	case t.Task == gc.ByHand:
		return byHand
	}
	return ofTask
}

// The folders that only checks use, relative to the folder of the machine. Checks that run at the same time share the caches: programs
// lock what they keep there.
const (
	privateDir = "sandbox"
	cacheDir   = privateDir + "/cache"
)

// makePrivate makes the folders that only checks use. It removes what the previous check of the kind has left, unless that check still
// runs: temporary files, and settings in the home folder, by which a test could have the next check run less. The folder of cargo
// leads to what cargo has downloaded for the person.
func (r *Runner) makePrivate(k kind) error {
	root, err := r.place.OpenDir()
	if err != nil {
		return err
	}
	defer root.Close()
	if !checks.Running(r.place.Path(k.lock)) {
		for _, name := range []string{k.tmp, k.cargo, k.home} {
			if err := root.RemoveTree(name); err != nil {
				return refusal.Folder(err)
			}
		}
	}
	for _, name := range []string{k.home, k.tmp, k.cargo, cacheDir} {
		if err := root.MkdirAll(name, 0o700); err != nil {
			return refusal.Folder(err)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	for name, dir := range sandbox.Crates(home) {
		if err := root.Symlink(dir, k.cargo+"/"+name); err != nil && !errors.Is(err, fs.ErrExist) {
			return refusal.Folder(err)
		}
	}
	return nil
}

// privateEnv is the environment by which programs keep to the private folders. What the person has installed and downloaded is read
// from there.
func privateEnv(machine string, k kind, home string) []string {
	cache := filepath.Join(machine, cacheDir)
	return []string{"HOME=" + filepath.Join(machine, k.home), "TMPDIR=" + filepath.Join(machine, k.tmp), "XDG_CACHE_HOME=" + cache,
		"GOCACHE=" + filepath.Join(cache, "go"), "GOMODCACHE=" + sandbox.Modules(home), "GOTELEMETRY=off", "npm_config_cache=" + filepath.Join(cache, "npm"),
		"CARGO_HOME=" + filepath.Join(machine, k.cargo), "RUSTUP_HOME=" + sandbox.Rustup(home)}
}
