package config

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A builder is a tool that tests projects, with the files by which its projects are recognized.
type builder struct {
	files    []string                                  // any one of them
	commands func(dir string, below []string) []string // what tests the project in dir; below are the folders of those under it
	whole    func(dir string) bool                     // whether that tests the projects below it too
}

var builders = []builder{
	{[]string{"go.work", "go.mod"}, goTest, func(dir string) bool { return isFile(filepath.Join(dir, "go.work")) }},
	{[]string{"package.json"}, nodeTest, nodeWorkspace},
	{[]string{"Cargo.toml"}, func(dir string, _ []string) []string {
		if cargoWorkspace(dir) {
			return []string{"cargo test --workspace"}
		}
		return []string{"cargo test"}
	}, cargoWorkspace},
	{[]string{"pyproject.toml", "setup.cfg", "pytest.ini"}, func(string, []string) []string { return []string{"python3 -m pytest -q"} },
		func(string) bool { return true }},
}

const (
	maxProject = 1 << 20 // bytes of another program's file that are read
	maxDepth   = 3       // depth of folders that are searched for projects
	maxFolders = 2000    // number of folders that are searched
	maxChecks  = 20      // number of proposed checks
)

// others are folders that contain projects of others, or the output of a build.
var others = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "example", "examples", "target", "dist", "build"}

// Propose suggests check commands from the files in root and up to three folders below it. It runs
// nothing. Only regular files count; of huge files only their existence counts. A Makefile at the
// root wins over projects that are only below it. Nil means that nothing was found, and that a
// person has to name the checks.
func Propose(root string) []string {
	dirs := folders(root)
	var commands []string
	for i, dir := range dirs {
		if i == 1 && commands == nil {
			if commands = makeTest(root); commands != nil {
				break
			}
		}
		for _, b := range builders {
			if !b.in(root, dir) || slices.ContainsFunc(dirs[:i], func(at string) bool {
				return within(at, dir) && b.in(root, at) && b.whole(filepath.Join(root, at))
			}) {
				continue
			}
			var below []string
			for _, at := range dirs[i+1:] {
				if within(dir, at) && b.in(root, at) {
					below = append(below, filepath.Join(root, at))
				}
			}
			for _, c := range b.commands(filepath.Join(root, dir), below) {
				if dir != "." {
					c = "cd " + shellWord(dir) + " && " + c
				}
				commands = append(commands, c)
			}
		}
	}
	if commands == nil {
		commands = makeTest(root)
	}
	return commands[:min(len(commands), maxChecks)]
}

func (b builder) in(root, dir string) bool {
	return slices.ContainsFunc(b.files, func(name string) bool { return isFile(filepath.Join(root, dir, name)) })
}

// folders returns the root, as ".", and the folders below it that may contain projects, with
// slashes, outer ones first.
func folders(root string) []string {
	dirs := []string{"."}
	for i := 0; i < len(dirs) && len(dirs) < maxFolders; i++ {
		if dirs[i] != "." && strings.Count(dirs[i], "/") == maxDepth-1 {
			continue
		}
		entries, _ := os.ReadDir(filepath.Join(root, dirs[i]))
		for _, e := range entries {
			name := path.Join(dirs[i], e.Name())
			_, err := os.Lstat(filepath.Join(root, name, ".git")) // a repository of its own
			if e.IsDir() && !strings.ContainsAny(e.Name()[:1], "._") && !slices.Contains(others, e.Name()) && err != nil {
				dirs = append(dirs, name)
			}
		}
	}
	return dirs
}

// within reports whether dir is below at. Both are relative to the root, with slashes.
func within(at, dir string) bool {
	return at != dir && (at == "." || strings.HasPrefix(dir, at+"/"))
}

// shellWord returns a path quoted as one word of the shell.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if regexp.MustCompile(`^[A-Za-z0-9_./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// text returns the content of another program's file, "" when it cannot be read.
func text(name ...string) string {
	data, err := rootfs.ReadFile(filepath.Join(name...), maxProject)
	if err != nil {
		return ""
	}
	return string(data)
}

var (
	useDirective = regexp.MustCompile(`(?m)^\s*use\s*(\([^)]*\)|\S+)`)
	lineComment  = regexp.MustCompile(`//.*`)
)

// goTest names the modules of a workspace, because ./... matches none of them at its root.
func goTest(dir string, _ []string) []string {
	all := "./..."
	if work := text(dir, "go.work"); work != "" {
		var patterns []string
		for _, use := range useDirective.FindAllStringSubmatch(lineComment.ReplaceAllString(work, ""), -1) {
			for _, w := range strings.Fields(strings.Trim(use[1], "()")) {
				if w = path.Clean(strings.Trim(w, "\"`")); w != "." && !strings.HasPrefix(w, "..") {
					w = "./" + w
				}
				patterns = append(patterns, shellWord(w+"/..."))
			}
		}
		if all = strings.Join(patterns, " "); all == "" {
			return nil
		}
	}
	return []string{"go vet " + all, "go test " + all}
}

// nodePackage has the relevant fields of a package.json.
type nodePackage struct {
	Scripts    struct{ Test, Lint string }
	Workspaces json.RawMessage
}

func nodeIn(dir string) (p nodePackage) {
	_ = json.Unmarshal([]byte(text(dir, "package.json")), &p) // one that is broken has no tests
	return p
}

// tests reports whether there is a test script other than the placeholder of npm init, which always
// fails.
func (p nodePackage) tests() bool {
	return strings.TrimSpace(p.Scripts.Test) != "" && !strings.Contains(p.Scripts.Test, "no test specified")
}

func nodeWorkspace(dir string) bool {
	return len(nodeIn(dir).Workspaces) > 0 || isFile(filepath.Join(dir, "pnpm-workspace.yaml"))
}

// nodeTest runs the test script of a workspace, or if it has none, those of its packages; and its lint script first, if it has one.
func nodeTest(dir string, below []string) []string {
	has := func(name string) bool { return isFile(filepath.Join(dir, name)) }
	tool, each := "npm", "npm test --workspaces --if-present"
	switch {
	case has("pnpm-lock.yaml"), has("pnpm-workspace.yaml"):
		tool, each = "pnpm", "pnpm -r test"
	case has("yarn.lock") && has(".yarnrc.yml"):
		tool, each = "yarn", "yarn workspaces foreach -A run test"
	case has("yarn.lock"):
		tool, each = "yarn", "yarn workspaces run test"
	}
	var commands []string
	if strings.TrimSpace(nodeIn(dir).Scripts.Lint) != "" {
		commands = append(commands, tool+" run lint")
	}
	switch {
	case nodeIn(dir).tests():
		return append(commands, tool+" test")
	case nodeWorkspace(dir) && slices.ContainsFunc(below, func(at string) bool { return nodeIn(at).tests() }):
		return append(commands, each)
	}
	return nil
}

var workspaceTable = regexp.MustCompile(`(?m)^\s*\[workspace(\.[^\]]*)?\]`)

func cargoWorkspace(dir string) bool { return workspaceTable.MatchString(text(dir, "Cargo.toml")) }

// makeTest prefers check to test: by convention check includes test.
func makeTest(dir string) []string {
	// The order in which make itself looks.
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if !isFile(filepath.Join(dir, name)) {
			continue
		}
		var targets []string
		for line := range strings.Lines(text(dir, name)) {
			before, after, ok := strings.Cut(line, ":")
			isAssignment := strings.HasPrefix(strings.TrimLeft(after, ":"), "=")
			if !ok || isAssignment || strings.ContainsAny(before, "\t#=$") {
				continue
			}
			targets = append(targets, strings.Fields(before)...)
		}
		for _, name := range []string{"check", "test"} {
			if slices.Contains(targets, name) {
				return []string{"make " + name}
			}
		}
		return nil
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
