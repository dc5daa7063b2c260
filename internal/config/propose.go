package config

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// A builder is a tool that tests projects, and how one of its projects is recognised.
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
	maxProject = 1 << 20 // bytes that are read of another program's file
	maxDepth   = 3       // how far below the root projects are looked for
	maxFolders = 2000    // that are looked into
	maxChecks  = 20      // that are proposed
)

// others are folders in which projects of others lie, or what a build has made.
var others = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "example", "examples", "target", "dist", "build"}

// Propose suggests check commands from what stands in root and up to three folders below it, without running anything. Only
// regular files count, and of huge ones nothing but that they are there. A Makefile at the root goes before projects that stand
// below it alone. Nil: there is nothing to go by, and a person has to name the checks.
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

// folders are the root, as ".", and those below it in which projects may stand, with slashes, outer ones before inner ones.
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

// within reports whether dir lies below at. Both are from the root, with slashes.
func within(at, dir string) bool {
	return at != dir && (at == "." || strings.HasPrefix(dir, at+"/"))
}

// shellWord is a path as one word of the shell.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if regexp.MustCompile(`^[A-Za-z0-9_./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// text is a file of another program, "" when it cannot be read.
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

// goTest names the modules of a workspace, because at its root ./... means none of them.
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

// nodePackage is what counts of a package.json.
type nodePackage struct {
	Scripts    struct{ Test string }
	Workspaces json.RawMessage
}

func nodeIn(dir string) (p nodePackage) {
	_ = json.Unmarshal([]byte(text(dir, "package.json")), &p) // one that is broken has no tests
	return p
}

// tests reports whether there is a test script that is not the placeholder of npm init, which always fails.
func (p nodePackage) tests() bool {
	return strings.TrimSpace(p.Scripts.Test) != "" && !strings.Contains(p.Scripts.Test, "no test specified")
}

func nodeWorkspace(dir string) bool {
	return len(nodeIn(dir).Workspaces) > 0 || isFile(filepath.Join(dir, "pnpm-workspace.yaml"))
}

// nodeTest runs a workspace's own test script, or where it has none those of its packages.
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
	switch {
	case nodeIn(dir).tests():
		return []string{tool + " test"}
	case nodeWorkspace(dir) && slices.ContainsFunc(below, func(at string) bool { return nodeIn(at).tests() }):
		return []string{each}
	}
	return nil
}

var workspaceTable = regexp.MustCompile(`(?m)^\s*\[workspace(\.[^\]]*)?\]`)

func cargoWorkspace(dir string) bool { return workspaceTable.MatchString(text(dir, "Cargo.toml")) }

// makeTest prefers check to test: by custom it includes it.
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
