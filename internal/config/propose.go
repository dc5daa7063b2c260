package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/rootfs"
)

// proposals says which file in a project's root stands for which checks.
var proposals = []struct {
	files    []string // any one of them
	commands func(path string) []string
}{
	{[]string{"go.mod"}, always("go vet ./...", "go test ./...")},
	{[]string{"package.json"}, npmTest},
	{[]string{"Cargo.toml"}, always("cargo test")},
	{[]string{"pyproject.toml", "setup.cfg", "pytest.ini"}, always("python3 -m pytest -q")},
}

// maxProject bounds what is read of another program's file, in bytes.
const maxProject = 1 << 20

// Propose suggests check commands from what stands in dir, without running
// anything. Only regular files count, and of huge ones nothing but that they
// are there. A Makefile counts only where nothing else was found. Nil: there is
// nothing to go by, and a person has to name the checks.
func Propose(dir string) []string {
	var commands []string
	for _, p := range proposals {
		for _, name := range p.files {
			if path := filepath.Join(dir, name); isFile(path) {
				commands = append(commands, p.commands(path)...)
				break
			}
		}
	}
	if commands != nil {
		return commands
	}
	// The order in which make itself looks.
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if path := filepath.Join(dir, name); isFile(path) {
			return makeTarget(path)
		}
	}
	return nil
}

func always(commands ...string) func(string) []string {
	return func(string) []string { return commands }
}

// npmTest proposes nothing for the placeholder that `npm init` writes, which
// always fails.
func npmTest(path string) []string {
	data, err := rootfs.ReadFile(path, maxProject)
	if err != nil {
		return nil
	}
	var pkg struct {
		Scripts struct{ Test string }
	}
	if err := json.Unmarshal(data, &pkg); err != nil {
		return nil
	}
	if t := pkg.Scripts.Test; strings.TrimSpace(t) == "" || strings.Contains(t, "no test specified") {
		return nil
	}
	return []string{"npm test"}
}

// makeTarget prefers check to test: by custom it includes it.
func makeTarget(path string) []string {
	data, err := rootfs.ReadFile(path, maxProject)
	if err != nil {
		return nil
	}
	var targets []string
	for line := range strings.Lines(string(data)) {
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

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
