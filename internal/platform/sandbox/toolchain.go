package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// packaged are folders whose many links are those of installed packages. They lead to folders of the system.
var packaged = []string{"/usr/bin", "/usr/sbin"}

// modules is in the paths of programs that npm has installed.
const modules = "/node_modules/"

// Folders are the folders of the programs on a PATH, where their links lead, and what such an installation has beside its programs.
// They leave out what the programs of the system read in any case. None of them contains home.
func Folders(path, home string, system []string) []string {
	list := []string{Modules(home)}
	covered := func(dir string) bool {
		return slices.ContainsFunc(system, func(top string) bool { return rootfs.Within(top, dir) })
	}
	add := func(dir string) {
		dir = filepath.Clean(dir)
		if !filepath.IsAbs(dir) || rootfs.Within(dir, home) || covered(dir) || slices.Contains(list, dir) {
			return
		}
		if _, err := os.Stat(dir); err == nil {
			list = append(list, dir)
		}
	}
	var seen []string
	for _, dir := range filepath.SplitList(path) {
		add(dir)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(real) || slices.Contains(seen, real) {
			continue
		}
		seen = append(seen, real)
		add(real)
		if slices.Contains(packaged, real) {
			continue
		}
		entries, _ := os.ReadDir(real) // the programs of a folder that cannot be listed can be used all the same
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			to, err := filepath.EvalSymlinks(filepath.Join(real, e.Name()))
			if err != nil {
				continue
			}
			add(filepath.Dir(to))
			if above, _, found := strings.Cut(to, modules); found { // what it needs lies beside it
				add(above + strings.TrimSuffix(modules, "/"))
			}
		}
	}
	add(Rustup(home))
	add(Pythons(home))
	for _, dir := range slices.Clone(list) {
		for _, name := range beside[filepath.Base(dir)] {
			add(filepath.Join(filepath.Dir(dir), name))
		}
	}
	return list
}

// beside is what an installation has beside the folder of its programs. In shims are those of pyenv, rbenv, asdf and the like, which start
// the program of a version.
var beside = map[string][]string{
	"bin":   {"lib", "libexec", "include", "pkg", "src", "VERSION", "go.env"},
	"shims": {"bin", "libexec", "versions", "version", "installs", "plugins"},
}

// Pythons is where uv keeps the Pythons that it has installed. A virtual environment leads there.
func Pythons(home string) string {
	return ownOr("UV_PYTHON_INSTALL_DIR", filepath.Join(ownOr("XDG_DATA_HOME", filepath.Join(home, ".local", "share")), "uv", "python"))
}

// Rustup is where rustup keeps the tool chains that its programs start.
func Rustup(home string) string { return ownOr("RUSTUP_HOME", filepath.Join(home, ".rustup")) }

// Crates are the folders of what cargo has downloaded, by their names in its own folder, where logins and settings lie beside them.
// The paths have no links.
func Crates(home string) map[string]string {
	found := map[string]string{}
	for _, name := range []string{"registry", "git"} {
		dir, err := filepath.EvalSymlinks(filepath.Join(ownOr("CARGO_HOME", filepath.Join(home, ".cargo")), name))
		if err == nil && !rootfs.Within(dir, home) {
			found[name] = dir
		}
	}
	return found
}

// Above are the files of a project that cargo reads in a work tree below it: it fails where one exists and cannot be read. Links are
// left out, because they can lead to anything.
func Above(project string) []string {
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil
	}
	var list []string
	for _, name := range []string{"Cargo.toml", ".cargo/config.toml", ".cargo/config"} {
		path := filepath.Join(project, name)
		if real, err := filepath.EvalSymlinks(path); err == nil && real == path {
			list = append(list, path)
		}
	}
	return list
}

// ownOr is the folder that a variable names, or another where it names none.
func ownOr(variable, other string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return other
}

// Modules is where Go keeps what it has downloaded.
func Modules(home string) string {
	if dir := os.Getenv("GOMODCACHE"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if first, _, _ := strings.Cut(os.Getenv("GOPATH"), string(filepath.ListSeparator)); filepath.IsAbs(first) {
		return filepath.Join(first, "pkg", "mod")
	}
	return filepath.Join(home, "go", "pkg", "mod")
}
