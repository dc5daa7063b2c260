package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// folder returns a new folder with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

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
		{"a linter alone", map[string]string{"package.json": `{"scripts":{"lint":"eslint ."}}`}, []string{"npm run lint"}},
		{"a linter of a workspace", map[string]string{"package.json": `{"scripts":{"lint":"eslint ."}}`, "pnpm-workspace.yaml": "packages: [a]\n", "a/package.json": npm},
			[]string{"pnpm run lint", "pnpm -r test"}},
		{"node without tests", map[string]string{"package.json": `{"scripts":{"build":"x"}}`}, nil},
		{"node with blank tests", map[string]string{"package.json": `{"scripts":{"test":" "}}`}, nil},
		{"npm's placeholder", map[string]string{
			"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, nil},
		{"broken package.json", map[string]string{"package.json": "{"}, nil},
		{"rust", map[string]string{"Cargo.toml": ""}, []string{"cargo test"}},
		{"python", map[string]string{"pyproject.toml": "", "setup.cfg": "", "pytest.ini": ""}, []string{"python3 -m pytest -q"}},
		{"old python", map[string]string{"setup.cfg": "[tool:pytest]"}, []string{"python3 -m pytest -q"}},
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
		{"pytest finds what is below", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]", "a/pyproject.toml": "pytest"}, []string{"python3 -m pytest -q"}},
		{"make at the root goes before modules below", map[string]string{"Makefile": "test:\n", "a/go.mod": ""}, []string{"make test"}},
		{"folders of others", map[string]string{"node_modules/x/package.json": npm, "vendor/x/go.mod": "", "a/testdata/go.mod": "", ".x/go.mod": "", "_x/go.mod": "",
			"sub/.git/HEAD": "", "sub/go.mod": ""}, nil},
		{"too deep", map[string]string{"a/b/c/go.mod": "", "a/b/c/d/package.json": npm}, []string{"cd a/b/c && go vet ./...", "cd a/b/c && go test ./..."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Propose(folder(t, test.files)).Commands()); diff != "" {
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
	if got := Propose(dir).Commands(); got != nil {
		t.Errorf("proposed %q", got)
	}
}

// TestAToolHasItsChecksAndItsSetUp: what is proposed for each tool, with the set-up of a new work tree by its lock file.
func TestAToolHasItsChecksAndItsSetUp(t *testing.T) {
	const npm, deps = `{"scripts":{"test":"node --test","lint":"eslint .","check-types":"tsc"}}`, `{"scripts":{"test":"x"},"devDependencies":{"a":"1"}}`
	for _, test := range []struct {
		name, setup string
		files       map[string]string
		checks      []string
	}{
		{"go", "go mod download", map[string]string{"go.mod": "", "go.sum": "x"}, []string{"go vet ./...", "go test ./..."}},
		{"go with a vendor folder", "", map[string]string{"go.mod": "", "go.sum": "x", "vendor/modules.txt": ""}, []string{"go vet ./...", "go test ./..."}},
		{"npm", "npm ci", map[string]string{"package.json": npm, "package-lock.json": ""}, []string{"npm run lint", "npm run check-types", "npm test"}},
		{"npm without a lock", "npm install --no-package-lock", map[string]string{"package.json": deps}, []string{"npm test"}},
		{"npm without dependencies", "", map[string]string{"package.json": `{"scripts":{"test":"x"},"dependencies":{}}`}, []string{"npm test"}},
		{"pnpm", "pnpm install --frozen-lockfile", map[string]string{"package.json": npm, "pnpm-lock.yaml": ""}, []string{"pnpm run lint", "pnpm run check-types", "pnpm test"}},
		{"yarn 1", "yarn install --frozen-lockfile", map[string]string{"package.json": deps, "yarn.lock": ""}, []string{"yarn test"}},
		{"yarn", "yarn install --immutable", map[string]string{"package.json": deps, "yarn.lock": "", ".yarnrc.yml": ""}, []string{"yarn test"}},
		{"bun", "bun install --frozen-lockfile", map[string]string{"package.json": npm, "bun.lock": ""}, []string{"bun run lint", "bun run check-types", "bun run test"}},
		{"uv", "uv sync", map[string]string{"pyproject.toml": "[tool.ruff]\n[dependency-groups]\ndev = ['pytest']", "uv.lock": ""}, []string{"uv run ruff check .", "uv run pytest -q"}},
		{"poetry", "poetry install", map[string]string{"pyproject.toml": "", "poetry.lock": "", "tests/conftest.py": ""}, []string{"poetry run pytest -q"}},
		{"tox", "tox --notest", map[string]string{"setup.py": "", "tox.ini": "[tox]\n[testenv]\ndeps = pytest"}, []string{"tox"}},
		{"tox with a lock", "uv sync", map[string]string{"pyproject.toml": "[tool.tox]\npytest", "uv.lock": ""}, []string{"uv run pytest -q"}},
		{"django", "", map[string]string{"requirements.txt": "django", "manage.py": ""}, []string{"python3 manage.py test"}},
		{"django by pytest", "", map[string]string{"requirements.txt": "django\npytest-django", "manage.py": ""}, []string{"python3 -m pytest -q"}},
		{"unittest", "", map[string]string{"setup.py": "", "tests/test_it.py": "import unittest"}, []string{"python3 -m unittest discover"}},
		{"an environment of Python", "python3 -m venv .venv && .venv/bin/python -m pip install -q -r requirements.txt -r requirements-dev.txt",
			map[string]string{"requirements.txt": "a", "requirements-dev.txt": "pytest", ".venv/pyvenv.cfg": "", "ruff.toml": ""}, []string{"ruff check .", ".venv/bin/python -m pytest -q"}},
		{"an environment with the project in it", "(cd api && python3 -m venv venv && venv/bin/python -m pip install -q -e .)",
			map[string]string{"api/pyproject.toml": "", "api/test_it.py": "import unittest", "api/venv/pyvenv.cfg": "", "api/ruff.toml": "", "api/venv/bin/ruff": ""},
			[]string{"cd api && venv/bin/ruff check .", "cd api && venv/bin/python -m unittest discover"}},
		{"an empty environment", "python3 -m venv .venv", map[string]string{"manage.py": "", ".venv/pyvenv.cfg": ""}, []string{".venv/bin/python manage.py test"}},
		{"uv with its environment", "uv sync", map[string]string{"pyproject.toml": "pytest", "uv.lock": "", ".venv/pyvenv.cfg": ""}, []string{"uv run pytest -q"}},
		{"python that only formats", "", map[string]string{"pyproject.toml": "[tool.ruff]"}, []string{"ruff check ."}},
		{"requirements of documentation", "", map[string]string{"docs/requirements.txt": "mkdocs"}, nil},
		{"cargo", "cargo fetch --locked", map[string]string{"Cargo.toml": "", "Cargo.lock": ""}, []string{"cargo test"}},
		{"gradle", "", map[string]string{"build.gradle.kts": "", "gradlew": "", "settings.gradle": "", "app/build.gradle": ""}, []string{"./gradlew --no-daemon check"}},
		{"maven", "", map[string]string{"pom.xml": ""}, []string{"mvn -q verify"}},
		{"dotnet", "dotnet restore", map[string]string{"App.sln": "", "src/App.csproj": ""}, []string{"dotnet test"}},
		{"composer", "composer install --no-interaction", map[string]string{"composer.json": `{"scripts":{"test":["@a"],"lint":"phpcs"}}`, "phpunit.xml": ""}, []string{"composer run lint", "composer run test"}},
		{"phpunit", "composer install --no-interaction", map[string]string{"composer.json": `{}`, "phpunit.xml.dist": ""}, []string{"vendor/bin/phpunit"}},
		{"bundler", "bundle install", map[string]string{"Gemfile": "", ".rubocop.yml": "", "spec/a_spec.rb": "", "bin/rails": "", "Rakefile": "test"}, []string{"bundle exec rubocop", "bundle exec rspec"}},
		{"rake", "bundle install", map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new"}, []string{"bundle exec rake test"}},
		{"mix", "mix deps.get", map[string]string{"mix.exs": "", ".formatter.exs": ""}, []string{"mix format --check-formatted", "mix test"}},
		{"just", "", map[string]string{"justfile": "set shell := ['sh']\n@test *args:\n    echo check: x\n"}, []string{"just test"}},
		{"make over npm", "npm ci", map[string]string{"Makefile": "test:\n", "package.json": "{}", "package-lock.json": ""}, []string{"make test"}},
		{"make over what is below", "(cd web && npm ci)", map[string]string{"Makefile": "check:\n", "web/package.json": npm, "web/package-lock.json": ""}, []string{"make check"}},
		{"several", "go mod download && (cd 'my web' && pnpm install --frozen-lockfile)",
			map[string]string{"go.mod": "", "go.sum": "", "my web/package.json": deps, "my web/pnpm-lock.yaml": "", "docs/package.json": "{}", "docs/package-lock.json": ""},
			[]string{"go vet ./...", "go test ./...", "cd 'my web' && pnpm test"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Propose(folder(t, test.files))
			if diff := cmp.Diff(test.checks, p.Commands()); diff != "" {
				t.Error(diff)
			}
			if p.SetupLine() != test.setup {
				t.Errorf("the set-up is %q", p.SetupLine())
			}
		})
	}
}

func TestAProposalSaysWhereItIsFrom(t *testing.T) {
	p := Propose(folder(t, map[string]string{"web/package.json": `{"scripts":{"test":"node\u001b --test"}}`, "web/package-lock.json": "", "web/.env": "", ".env.test": "", "go.mod": "", ".env/x": ""}))
	want := Proposal{
		Checks: []ProposedCommand{{"go vet ./...", "go.mod"}, {"go test ./...", "go.mod"}, {"cd web && npm test", `web/package.json: "node\x1b --test"`}},
		Setup:  []ProposedCommand{{"(cd web && npm ci)", "web/package.json"}},
		Files:  []string{".env.test", "web/.env"},
	}
	if diff := cmp.Diff(want, p, cmpopts.IgnoreUnexported(Proposal{})); diff != "" {
		t.Error(diff)
	}
}

// TestNoEntryIsReadAsAProject lays links, FIFOs and huge files in place of what is read of a project.
func TestNoEntryIsReadAsAProject(t *testing.T) {
	files := []string{"go.mod", "package.json", "Cargo.toml", "pyproject.toml", "Makefile"}
	setup := func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"scripts":{"test":"rm -rf x"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, files, setup, func(t *testing.T, c rootfstest.Case) error {
		if text := fmt.Sprint(Propose(c.Dir)); c.Path == "package.json" && strings.Contains(text, "rm -rf x") {
			t.Errorf("proposed is %s", text)
		}
		return nil
	})
}
