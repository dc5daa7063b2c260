package config

// A fact about the files of a folder. The zero value always holds.
type fact struct {
	files []string // globs; at least one of them names a regular file
	text  string   // a regular expression that such a file matches; "" for none
	or    []fact   // one of these suffices instead
	not   bool     // the opposite
}

func has(files ...string) fact               { return fact{files: files} }
func says(text string, files ...string) fact { return fact{files: files, text: text} }
func either(facts ...fact) fact              { return fact{or: facts} }
func not(f fact) fact                        { f.not = !f.not; return f }

func allOf(facts ...fact) fact {
	var opposites []fact
	for _, f := range facts {
		opposites = append(opposites, not(f))
	}
	return not(either(opposites...))
}

// A filling is what a placeholder of a command stands for: the first of its name whose fact holds, else nothing.
type filling struct {
	name, is string
	when     fact
}

// A checkLine is a command that is proposed where its fact holds.
type checkLine struct {
	run     string // with {words} in it
	when    fact
	scripts []string // the first of these that the project's manifest has, as {script}; nil for none
	targets []string // the first of these that the file of a runner has, as {target}; nil for none
	below   string   // what is run where only projects below have such a script, in a project that tests these too
	instead bool     // only where the check before it is not proposed, nor what that stands in for
}

// An ecosystem is a tool that tests projects.
type ecosystem struct {
	marks  []string  // globs of the files by which its projects are recognized; the first is the manifest
	words  []filling // the word setup is what a new work tree needs
	checks []checkLine
	whole  fact // whether its checks test the projects below it too
	runner bool // counts only at the root, where that has no other checks
}

var (
	neverHolds = not(fact{})

	locked = has("uv.lock", "poetry.lock")
	// An environment that is in the folder: a new work tree needs one at the same place.
	venv   = has(".venv/pyvenv.cfg", "venv/pyvenv.cfg")
	inVenv = either(locked, venv)
	pytest = either(has("pytest.ini", "conftest.py", "tests/conftest.py"), says(`pytest`, "pyproject.toml", "setup.cfg", "tox.ini", "Pipfile", "*requirements*.txt"))
	tox    = allOf(either(says(`(?m)^\[(tox|testenv)`, "tox.ini"), says(`\[tool\.tox`, "pyproject.toml")), not(locked))

	workspaces = either(has("pnpm-workspace.yaml"), says(`"workspaces"\s*:`, "package.json"))
	crates     = says(`(?m)^\s*\[workspace(\.[^\]]*)?\]`, "Cargo.toml")
	bun        = has("bun.lock", "bun.lockb")
	pnpm       = has("pnpm-lock.yaml", "pnpm-workspace.yaml")
	yarn       = has("yarn.lock")
	berry      = allOf(yarn, has(".yarnrc.yml"))
)

// ecosystems is all that is known of the tools. Within a folder the order is that of the proposal.
var ecosystems = []ecosystem{
	{
		marks: []string{"go.mod", "go.work"},
		words: []filling{{"setup", "go mod download", allOf(has("go.sum", "go.work"), not(has("vendor/modules.txt")))}},
		checks: []checkLine{
			{run: "go vet {packages}"},
			{run: "go test {packages}"},
		},
		whole: has("go.work"),
	},
	{
		marks: []string{"package.json"},
		words: []filling{
			{"tool", "pnpm", pnpm}, {"tool", "yarn", yarn}, {"tool", "bun", bun}, {"tool", "npm", fact{}},
			{"test", "bun run test", bun}, {"test", "{tool} test", fact{}}, // bun test is another program
			{"each", "pnpm -r test", pnpm}, {"each", "yarn workspaces foreach -A run test", berry}, {"each", "yarn workspaces run test", yarn},
			{"each", "bun run --filter '*' test", bun}, {"each", "npm test --workspaces --if-present", fact{}},
			{"setup", "pnpm install --frozen-lockfile", has("pnpm-lock.yaml")}, {"setup", "yarn install --immutable", berry},
			{"setup", "yarn install --frozen-lockfile", yarn}, {"setup", "bun install --frozen-lockfile", bun},
			{"setup", "npm ci", has("package-lock.json", "npm-shrinkwrap.json")},
			{"setup", "npm install --no-package-lock", says(`"(d|devD)ependencies"\s*:\s*\{\s*"`, "package.json")},
		},
		checks: []checkLine{
			{run: "{tool} run {script}", scripts: []string{"lint"}},
			{run: "{tool} run {script}", scripts: []string{"typecheck", "type-check", "check-types", "check:types", "tsc"}},
			{run: "{test}", scripts: []string{"test"}, below: "{each}"},
		},
		whole: workspaces,
	},
	{
		marks:  []string{"Cargo.toml"},
		words:  []filling{{"all", " --workspace", crates}, {"setup", "cargo fetch --locked", has("Cargo.lock")}},
		checks: []checkLine{{run: "cargo test{all}"}},
		whole:  crates,
	},
	{
		marks: []string{"pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "requirements.txt", "manage.py"},
		words: []filling{
			{"venv", ".venv", has(".venv/pyvenv.cfg")}, {"venv", "venv", fact{}},
			{"in", "uv run ", has("uv.lock")}, {"in", "poetry run ", has("poetry.lock")}, {"in", "{venv}/bin/", venv},
			{"python", "{in}python", inVenv}, {"python", "python3", fact{}},
			{"pytest", "{in}pytest -q", locked}, {"pytest", "{python} -m pytest -q", fact{}},
			{"ruff", "{in}ruff", either(locked, has(".venv/bin/ruff", "venv/bin/ruff"))}, {"ruff", "ruff", fact{}},
			{"needs", "{main}{dev}", has("requirements.txt", "requirements-dev.txt", "dev-requirements.txt")}, {"needs", " -e .", has("pyproject.toml", "setup.py")},
			{"main", " -r requirements.txt", has("requirements.txt")},
			{"dev", " -r requirements-dev.txt", has("requirements-dev.txt")}, {"dev", " -r dev-requirements.txt", has("dev-requirements.txt")},
			{"install", " && {python} -m pip install -q{needs}", has("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "pyproject.toml", "setup.py")},
			{"setup", "uv sync", has("uv.lock")}, {"setup", "poetry install", has("poetry.lock")}, {"setup", "tox --notest", tox},
			{"setup", "python3 -m venv {venv}{install}", venv},
		},
		checks: []checkLine{
			{run: "{ruff} check .", when: either(has("ruff.toml", ".ruff.toml"), says(`\[tool\.ruff`, "pyproject.toml"))},
			{run: "tox", when: tox},
			{run: "{pytest}", when: pytest, instead: true},
			{run: "{python} manage.py test", when: has("manage.py"), instead: true},
			{run: "{python} -m unittest discover", when: says(`\bunittest\b`, "test*.py", "tests/test*.py"), instead: true},
		},
		whole: either(pytest, tox),
	},
	{
		marks:  []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		words:  []filling{{"gradle", "./gradlew", has("gradlew")}, {"gradle", "gradle", fact{}}},
		checks: []checkLine{{run: "{gradle} --no-daemon check"}},
		whole:  has("settings.gradle", "settings.gradle.kts"),
	},
	{
		marks:  []string{"pom.xml"},
		words:  []filling{{"maven", "./mvnw", has("mvnw")}, {"maven", "mvn", fact{}}},
		checks: []checkLine{{run: "{maven} -q verify"}},
		whole:  says(`<modules>`, "pom.xml"),
	},
	{
		marks:  []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		words:  []filling{{"setup", "dotnet restore", fact{}}},
		checks: []checkLine{{run: "dotnet test"}},
		whole:  has("*.sln", "*.slnx"),
	},
	{
		marks: []string{"composer.json"},
		words: []filling{{"setup", "composer install --no-interaction", fact{}}},
		checks: []checkLine{
			{run: "composer run {script}", scripts: []string{"lint", "phpstan"}},
			{run: "composer run {script}", scripts: []string{"test"}},
			{run: "vendor/bin/phpunit", when: has("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"), instead: true},
		},
		whole: neverHolds,
	},
	{
		marks: []string{"Gemfile"},
		words: []filling{{"setup", "bundle install", fact{}}},
		checks: []checkLine{
			{run: "bundle exec rubocop", when: has(".rubocop.yml")},
			{run: "bundle exec rspec", when: has(".rspec", "spec/spec_helper.rb", "spec/*_spec.rb")},
			{run: "bin/rails test", when: has("bin/rails"), instead: true},
			{run: "bundle exec rake test", when: says(`(?i)test`, "Rakefile"), instead: true},
		},
		whole: neverHolds,
	},
	{
		marks: []string{"mix.exs"},
		words: []filling{{"setup", "mix deps.get", fact{}}},
		checks: []checkLine{
			{run: "mix format --check-formatted", when: has(".formatter.exs")},
			{run: "mix test"},
		},
		whole: says(`apps_path`, "mix.exs"),
	},
	// By convention check includes test.
	{marks: []string{"justfile", "Justfile", ".justfile"}, checks: []checkLine{{run: "just {target}", targets: []string{"check", "test"}}}, runner: true},
	{marks: []string{"GNUmakefile", "makefile", "Makefile"}, checks: []checkLine{{run: "make {target}", targets: []string{"check", "test"}}}, runner: true},
}

// settingFiles are files beside a manifest that git usually ignores and that tests often read.
var settingFiles = []string{".env", ".env.local", ".env.test", ".env.test.local", "config/master.key", "local.properties"}
