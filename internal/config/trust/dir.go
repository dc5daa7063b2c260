package trust

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Variables that name the folders. Adapters and register pass them on to the servers.
const (
	EnvStateDir = "FERRUS_STATE_DIR"
	EnvXDGState = "XDG_STATE_HOME"
	EnvXDGConf  = "XDG_CONFIG_HOME"
)

// Environ lists the variables that a process needs to find the same folders as this one, as NAME=value: those that are
// set here.
func Environ() []string {
	var set []string
	for _, name := range []string{EnvStateDir, EnvXDGState, EnvXDGConf} {
		if v := os.Getenv(name); v != "" {
			set = append(set, name+"="+v)
		}
	}
	return set
}

// StateDir returns the folder of everything that ferrus stores outside of repositories:
// FERRUS_STATE_DIR, else XDG_STATE_HOME/ferrus, else the usual place of the system. It need not
// exist; StateDir does not create it. The error is a refusal when the folder is in a work tree,
// belongs to another user or can be written by others: a repository could have named it, or others
// could forge its content.
func StateDir() (string, error) {
	const what = "the state folder"
	if dir := os.Getenv(EnvStateDir); dir != "" {
		return checked(what, EnvStateDir, dir)
	}
	if dir := os.Getenv(EnvXDGState); filepath.IsAbs(dir) { // a relative one is ignored, as the XDG specification says
		return checked(what, EnvXDGState, filepath.Join(dir, "ferrus"))
	}
	dir, err := usualState()
	if err != nil {
		return "", noHome(what, EnvStateDir, err)
	}
	return checked(what, EnvStateDir, dir)
}

// ConfigDir returns the folder of the person's own configuration: XDG_CONFIG_HOME/ferrus, else the usual place of the
// system. It need not exist. The error is one of StateDir.
func ConfigDir() (string, error) {
	const what = "the configuration folder"
	if dir := os.Getenv(EnvXDGConf); filepath.IsAbs(dir) {
		return checked(what, EnvXDGConf, filepath.Join(dir, "ferrus"))
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", noHome(what, EnvXDGConf, err)
	}
	return checked(what, EnvXDGConf, filepath.Join(dir, "ferrus"))
}

func usualState() (string, error) {
	switch runtime.GOOS {
	case "windows":
		dir, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(dir, "ferrus", "state"), err
	case "darwin", "ios":
		dir, err := os.UserConfigDir() // ~/Library/Application Support
		return filepath.Join(dir, "ferrus", "state"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "ferrus"), err
}

func noHome(what, variable string, err error) error {
	return unusable(what, "unknown", err, refusal.Say("set HOME, or name a folder in %s", variable))
}

// checked returns dir if it may be used.
func checked(what, variable, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", unusable(quoted(dir), what+" must be an absolute path", nil, refusal.Say("set %s to one", variable))
	}
	dir = filepath.Clean(dir)
	if err := usable(what, dir); err != nil {
		return "", err
	}
	return dir, nil
}

// usable refuses a folder that is in a work tree, by its name or after resolving links, that
// belongs to another user, or that others can write or replace.
func usable(what, dir string) error {
	at, err := locate(what, dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(at.real)
	if err != nil || !info.IsDir() {
		return unusable(dir, what+" is not a folder", err, "move it away")
	}
	if at.there { // else it is made 0700
		if problem, remedy := private(at.real, info); problem != "" {
			return unusable(dir, what+" "+problem, nil, remedy)
		}
	}
	for above := at.real; ; info, err = os.Stat(above) {
		if err == nil && replaceable(info) {
			return unusable(dir, what+" can be replaced by other users, who can write "+above, nil, refusal.Say("run chmod o-w %s, or name another folder", above))
		}
		if above == filepath.Dir(above) {
			return nil
		}
		above = filepath.Dir(above)
	}
}

// A location is the folder to which a name leads.
type location struct {
	real  string // path of the folder, or of the nearest one above it that exists
	there bool   // the folder exists
}

// located has the locations, by name, that this process has found to be outside of work trees: a
// folder inside of one is named before the process starts.
var located sync.Map

// locate finds the folder, and refuses one that lies in a work tree.
func locate(what, dir string) (location, error) {
	if at, ok := located.Load(dir); ok && at.(location).of(dir) {
		return at.(location), nil
	}
	real, err := existing(dir)
	if err != nil {
		return location{}, unusable(dir, what+" cannot be read", err, "make it a folder of yours, or name another")
	}
	for _, path := range slices.Compact([]string{dir, real}) {
		if tree, ok := workTree(path); ok {
			return location{}, unusable(dir, what+" lies in the work tree "+tree, nil, "files of a repository are not trusted there: unset "+EnvStateDir+", "+EnvXDGState+" and "+
				EnvXDGConf+", or name a folder outside of every repository")
		}
	}
	at := location{real, real == resolved(dir)}
	located.Store(dir, at)
	return at, nil
}

// of reports whether the name dir still leads there.
func (l location) of(dir string) bool {
	now, err := os.Stat(dir)
	switch {
	case !l.there:
		return errors.Is(err, fs.ErrNotExist)
	case l.real == dir:
		return err == nil
	}
	was, lost := os.Stat(l.real)
	return err == nil && lost == nil && os.SameFile(now, was)
}

// existing returns the real path of dir, or of the nearest folder above it that exists.
func existing(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", err
		}
		switch info, err := os.Lstat(at); {
		case err != nil:
		case info.Mode()&fs.ModeSymlink == 0:
			return existing(dir) // another process has just made it
		default:
			return "", &fs.PathError{Op: "open", Path: at, Err: errors.New("a link to a folder that does not exist")}
		}
	}
}

func resolved(dir string) string {
	real, _ := filepath.EvalSymlinks(dir)
	return real
}

// workTree returns the nearest folder at or above dir that is a git work tree or a project of ferrus. A home folder that
// is itself a work tree, as people have it who keep their dot files in git, is the person's own and does not count; the
// home is that of the account, not of HOME, which a repository may have set.
func workTree(dir string) (string, bool) {
	home := ""
	if account, err := user.Current(); err == nil {
		home = resolved(account.HomeDir)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if at != home {
			if rootfs.IsWorkTree(at) {
				return at, true
			}
			for _, mark := range []string{".ferrus", "ferrus.toml"} {
				if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
					return at, true
				}
			}
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// outside refuses a state folder within the project, which need not be a git repository.
func outside(root, dir string) error {
	real, err := existing(dir)
	if err != nil {
		return err
	}
	for _, path := range []string{dir, real} {
		if rootfs.Within(root, path) {
			return unusable(dir, "the state folder lies in the project "+root, nil, "unset "+EnvStateDir+" and "+EnvXDGState+", or name a folder outside of every repository")
		}
	}
	return nil
}

// Private returns a refusal when the file belongs to another user or can be written by others.
func Private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if problem, remedy := private(path, info); problem != "" {
		return unusable(path, problem, nil, remedy)
	}
	return nil
}

// StatDir returns the folder, which it makes, where stat tables of work trees are stored outside of repositories; "" for a nil project, and where
// there can be no such folder.
func (p *Project) StatDir() string {
	if p == nil {
		return ""
	}
	dir, err := StateDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "stat")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	return dir
}
