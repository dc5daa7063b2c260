package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsReadOfAPath: its folders and where links lead, with the packages beside those of npm, also those of a folder that is read in any case, which is not named again.
func TestWhatIsReadOfAPath(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, name := range []string{"mod", "home/me", "rust/settings.toml", "a/bin/tool", "a/lib", "a/share", "b/bin/linked", "c/linked", "system/bin/tool", "system/lib", "d/tool", "npm/node_modules/agent/dist/cli.js",
		"env/shims/python", "env/versions/3/bin/python", "env/version", "env/secret", "python/cpython-3/bin/python"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"a/bin/one": "../../b/bin/linked", "a/bin/same": "tool", "system/bin/out": at("c/linked"), "system/bin/in": at("system/lib"), "e": "d", "a/bin/agent": at("npm/node_modules/agent/dist/cli.js")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOMODCACHE", at("mod"))
	t.Setenv("RUSTUP_HOME", at("rust"))
	t.Setenv("UV_PYTHON_INSTALL_DIR", at("python"))
	path := strings.Join([]string{at("a/bin"), at("env/shims"), at("system/bin"), at("e"), at("home"), at("missing"), "relative", at("a/bin")}, ":")
	want := []string{at("mod"), at("a/bin"), at("npm/node_modules/agent/dist"), at("npm/node_modules"), at("b/bin"), at("env/shims"), at("c"), at("e"), at("d"), at("rust"), at("python"),
		at("a/lib"), at("env/versions"), at("env/version")}
	if diff := cmp.Diff(want, Folders(path, at("home/me"), []string{at("system")})); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyDownloadsOfCargoAreRead: its logins and settings lie beside them, and a folder above the home folder is none.
func TestOnlyDownloadsOfCargoAreRead(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home")
	for _, dir := range []string{"home/.cargo/registry", "disk/git"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CARGO_HOME", "")
	for name, c := range map[string]struct {
		git  string // where the link of this name leads
		want map[string]string
	}{
		"nothing":       {"", map[string]string{"registry": home + "/.cargo/registry"}},
		"another disk":  {base + "/disk/git", map[string]string{"registry": home + "/.cargo/registry", "git": base + "/disk/git"}},
		"the folder up": {base, map[string]string{"registry": home + "/.cargo/registry"}},
	} {
		link := filepath.Join(home, ".cargo", "git")
		os.Remove(link)
		if c.git != "" {
			if err := os.Symlink(c.git, link); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, Crates(home)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOnlyFilesOfCargoAreReadAboveAWorkTree, and none by a link: it can lead to a secret.
func TestOnlyFilesOfCargoAreReadAboveAWorkTree(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(project, name) }
	if err := os.Mkdir(at(".cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Cargo.toml", ".cargo/credentials.toml", "secret"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("secret"), at(".cargo/config.toml")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{at("Cargo.toml")}, Above(project)); diff != "" {
		t.Error(diff)
	}
}
