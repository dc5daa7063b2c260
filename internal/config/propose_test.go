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
		{"node with a linter", map[string]string{"package.json": `{"scripts":{"test":"node --test","lint":"eslint ."}}`}, []string{"npm run lint", "npm test"}},
		{"a linter alone", map[string]string{"package.json": `{"scripts":{"lint":"eslint ."}}`}, nil},
		{"a linter of a workspace", map[string]string{"package.json": `{"scripts":{"lint":"eslint ."}}`, "pnpm-workspace.yaml": "packages: [a]\n", "a/package.json": npm},
			[]string{"pnpm run lint", "pnpm -r test"}},
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

		{"a workspace of Go", map[string]string{"go.work": "go 1.26\n\nuse (\n\t./api // the server\n\t\"./b\"\n)\nuse ./cli\n", "api/go.mod": "", "cli/go.mod": ""},
			[]string{"go vet ./api/... ./b/... ./cli/...", "go test ./api/... ./b/... ./cli/..."}},
		{"a workspace of Go with the root in it", map[string]string{"go.work": "use .\nuse ./x\n", "go.mod": "", "x/go.mod": ""},
			[]string{"go vet ./... ./x/...", "go test ./... ./x/..."}},
		{"an empty workspace of Go", map[string]string{"go.work": "go 1.26\n"}, nil},
		{"several modules", map[string]string{"a/go.mod": "", "b/c/go.mod": ""},
			[]string{"cd a && go vet ./...", "cd a && go test ./...", "cd b/c && go vet ./...", "cd b/c && go test ./..."}},
		{"a module in another", map[string]string{"go.mod": "", "tools/go.mod": ""},
			[]string{"go vet ./...", "go test ./...", "cd tools && go vet ./...", "cd tools && go test ./..."}},
		{"a server and its pages", map[string]string{"go.mod": "", "my web/package.json": npm}, []string{"go vet ./...", "go test ./...", "cd 'my web' && npm test"}},
		{"several packages", map[string]string{"a/package.json": npm, "b/package.json": npm, "c/package.json": "{}"}, []string{"cd a && npm test", "cd b && npm test"}},
		{"workspaces of npm", map[string]string{"package.json": `{"workspaces":["packages/*"]}`, "packages/a/package.json": npm},
			[]string{"npm test --workspaces --if-present"}},
		{"workspaces of npm without tests", map[string]string{"package.json": `{"workspaces":["packages/*"]}`, "packages/a/package.json": "{}"}, nil},
		{"workspaces with tests at the root", map[string]string{"package.json": `{"workspaces":{"packages":["a"]},"scripts":{"test":"turbo test"}}`, "a/package.json": npm},
			[]string{"npm test"}},
		{"workspaces of pnpm", map[string]string{"package.json": "{}", "pnpm-workspace.yaml": "packages: [a]\n", "a/package.json": npm}, []string{"pnpm -r test"}},
		{"workspaces of yarn 1", map[string]string{"package.json": `{"workspaces":["a"]}`, "yarn.lock": "", "a/package.json": npm}, []string{"yarn workspaces run test"}},
		{"workspaces of yarn", map[string]string{"package.json": `{"workspaces":["a"]}`, "yarn.lock": "", ".yarnrc.yml": "", "a/package.json": npm},
			[]string{"yarn workspaces foreach -A run test"}},
		{"yarn", map[string]string{"package.json": npm, "yarn.lock": ""}, []string{"yarn test"}},
		{"workspace of cargo", map[string]string{"Cargo.toml": "[package]\n[workspace]\nmembers = ['a']\n", "a/Cargo.toml": ""}, []string{"cargo test --workspace"}},
		{"crates side by side", map[string]string{"a/Cargo.toml": "", "b/Cargo.toml": ""}, []string{"cd a && cargo test", "cd b && cargo test"}},
		{"pytest finds what is below", map[string]string{"pyproject.toml": "", "a/pyproject.toml": ""}, []string{"python3 -m pytest -q"}},
		{"make at the root goes before modules below", map[string]string{"Makefile": "test:\n", "a/go.mod": ""}, []string{"make test"}},
		{"folders of others", map[string]string{"node_modules/x/package.json": npm, "vendor/x/go.mod": "", "a/testdata/go.mod": "", ".x/go.mod": "", "_x/go.mod": "",
			"sub/.git/HEAD": "", "sub/go.mod": ""}, nil},
		{"too deep", map[string]string{"a/b/c/go.mod": "", "a/b/c/d/package.json": npm}, []string{"cd a/b/c && go vet ./...", "cd a/b/c && go test ./..."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
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
