package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChecksAreProposedFromWhatStandsInTheFolder(t *testing.T) {
	const npm = `{"scripts":{"test":"node --test"}}`
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", nil, nil},
		{"go", map[string]string{"go.mod": "module x"}, []string{"go vet ./...", "go test ./..."}},
		{"node", map[string]string{"package.json": npm}, []string{"npm test"}},
		{"node without tests", map[string]string{"package.json": `{"scripts":{"build":"x"}}`}, nil},
		{"node with blank tests", map[string]string{"package.json": `{"scripts":{"test":" "}}`}, nil},
		{"npm's placeholder", map[string]string{
			"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, nil},
		{"broken package.json", map[string]string{"package.json": "{"}, nil},
		{"rust", map[string]string{"Cargo.toml": ""}, []string{"cargo test"}},
		{"python", map[string]string{"pyproject.toml": "", "setup.cfg": "", "pytest.ini": ""}, []string{"python3 -m pytest -q"}},
		{"old python", map[string]string{"setup.cfg": ""}, []string{"python3 -m pytest -q"}},
		{"make check", map[string]string{"Makefile": "all: x\ntest:\n\tx\ncheck: test\n"}, []string{"make check"}},
		{"make test", map[string]string{"Makefile": "CC := x\nlint test: all\n\techo check: x\n"}, []string{"make test"}},
		{"GNUmakefile", map[string]string{"GNUmakefile": "test::\n\tx\n"}, []string{"make test"}},
		{"a variable is no target", map[string]string{"Makefile": "test := x\ncheck ::= y\n.PHONY: test\n# check: z\n"}, nil},
		{"make is the last resort", map[string]string{"Makefile": "test:\n", "go.mod": ""}, []string{"go vet ./...", "go test ./..."}},
		{"make where npm has no tests", map[string]string{"Makefile": "test:\n", "package.json": "{}"}, []string{"make test"}},
		{"two languages", map[string]string{"package.json": npm, "go.mod": ""}, []string{"go vet ./...", "go test ./...", "npm test"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, Propose(dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFolderNamedLikeAManifestProposesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "go.mod"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Propose(dir); got != nil {
		t.Errorf("proposed %q", got)
	}
}
