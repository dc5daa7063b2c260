package toolchain

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
	for _, name := range []string{"mod", "home/me", "a/bin/tool", "a/lib", "a/share", "b/bin/linked", "c/linked", "system/bin/tool", "system/lib", "d/tool", "npm/node_modules/agent/dist/cli.js"} {
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
	path := strings.Join([]string{at("a/bin"), at("system/bin"), at("e"), at("home"), at("missing"), "relative", at("a/bin")}, ":")
	want := []string{at("mod"), at("a/bin"), at("npm/node_modules/agent/dist"), at("npm/node_modules"), at("b/bin"), at("c"), at("e"), at("d"), at("a/lib")}
	if diff := cmp.Diff(want, Folders(path, at("home/me"), []string{at("system")})); diff != "" {
		t.Error(diff)
	}
}
