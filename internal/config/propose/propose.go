// Package propose suggests how a project is set up and checked, from the files in it. It runs nothing: what a project's files make
// run is for a person to agree to.
//
// The tools that it knows are a table (table.go). Which of its proposals a person takes is the matter of internal/cli/setup.
package propose

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// A Command is a proposal of a command for the shell, which stands in the project's folder.
type Command struct {
	Run  string
	From string // the file that shows it, and what that says, on one line
}

// A Proposal is what the files of a project suggest.
type Proposal struct {
	Checks []Command // nil: nothing was found, and a person has to name the checks
	Setup  []Command // what a new work tree needs, in this order
	Files  []string  // files of settings beside the manifests, with slashes; those that git ignores are missing in a new work tree

	ran bool // the checks are those of a runner
}

// Commands returns the commands of the checks; nil where there are none.
func (p Proposal) Commands() []string {
	var lines []string
	for _, c := range p.Checks {
		lines = append(lines, c.Run)
	}
	return lines
}

// SetupLine returns the set-up as one command, "" for none.
func (p Proposal) SetupLine() string {
	var parts []string
	for _, c := range p.Setup {
		parts = append(parts, c.Run)
	}
	return strings.Join(parts, " && ")
}

const (
	maxProject = 1 << 20 // bytes of another program's file that are read
	maxDepth   = 3       // depth of folders that are searched for projects
	maxFolders = 2000    // number of folders that are searched
	maxChecks  = 20      // number of proposed checks
	maxSource  = 100     // bytes of what a file says
)

// others are folders that contain projects of others, or the output of a build.
var others = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "example", "examples", "target", "dist", "build"}

// Look reads the files in root and up to three folders below it. Only regular files count; of huge files only their existence counts.
// A runner such as make counts where the root has no other checks, and then instead of projects that are only below it.
func Look(root string) Proposal {
	dirs := folders(root)
	var p Proposal
	var setups []Command // of projects, with or without checks
	for i, dir := range dirs {
		if i == 1 && p.Checks == nil {
			p.run(root)
		}
		for _, e := range ecosystems {
			at := project{root, dir, e}
			if e.runner || !at.is() || at.covered(dirs[:i]) {
				continue
			}
			setUp := at.setUp()
			setups = append(setups, setUp...)
			if checks := at.checks(dirs[i+1:]); !p.ran && len(checks) > 0 {
				p.Checks, p.Setup = append(p.Checks, checks...), append(p.Setup, setUp...)
			}
			p.Files = append(p.Files, at.settings()...)
		}
	}
	if p.Checks == nil {
		p.run(root)
	}
	if p.ran { // what it runs is anywhere
		p.Setup = setups
	}
	p.Checks, p.Files = p.Checks[:min(len(p.Checks), maxChecks)], slices.Compact(slices.Sorted(slices.Values(p.Files)))
	return p
}

// run proposes the checks of the first runner at the root that has some.
func (p *Proposal) run(root string) {
	for _, e := range ecosystems {
		if at := (project{root, ".", e}); p.Checks == nil && e.runner && at.is() {
			p.Checks = at.checks(nil)
			p.ran = p.Checks != nil
		}
	}
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

// A project is a folder, as a project of a tool.
type project struct {
	root, dir string // dir is relative to root, with slashes
	ecosystem
}

// is reports whether the folder has such a project.
func (p project) is() bool { return p.manifest() != "" }

// manifest returns the first file that shows it, "" for none.
func (p project) manifest() string {
	for _, glob := range p.marks {
		if names := p.match(glob); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// in returns the project of the same tool in another folder.
func (p project) in(dir string) project { return project{p.root, dir, p.ecosystem} }

// covered reports whether the checks of a project above test this one too.
func (p project) covered(above []string) bool {
	return slices.ContainsFunc(above, func(at string) bool {
		return within(at, p.dir) && p.in(at).is() && p.in(at).holds(p.whole)
	})
}

// within reports whether dir is below at. Both are relative to the root, with slashes.
func within(at, dir string) bool {
	return at != dir && (at == "." || strings.HasPrefix(dir, at+"/"))
}

// checks returns what tests the project; later are the folders that may be below it.
func (p project) checks(later []string) []Command {
	var list []Command
	found := false
	for _, c := range p.ecosystem.checks {
		if c.instead && found {
			continue
		}
		proposed, ok := p.check(c, later)
		if found = ok; ok {
			list = append(list, proposed)
		}
	}
	return list
}

func (p project) check(c check, later []string) (Command, bool) {
	from := p.manifest()
	words := map[string]string{}
	switch {
	case !p.holds(c.when):
		return Command{}, false
	case c.scripts != nil:
		name, text := p.script(c.scripts)
		words["script"] = name
		if name == "" {
			if c.below == "" || !p.holds(p.whole) || !slices.ContainsFunc(later, func(dir string) bool {
				name, _ := p.in(dir).script(c.scripts)
				return within(p.dir, dir) && name != ""
			}) {
				return Command{}, false
			}
			c.run = c.below
			break
		}
		from += fmt.Sprintf(": %q", format.Clip(text, maxSource))
	case c.targets != nil:
		if words["target"] = p.target(c.targets); words["target"] == "" {
			return Command{}, false
		}
	case strings.Contains(c.run, "{packages}"):
		if words["packages"] = p.packages(); words["packages"] == "" {
			return Command{}, false
		}
	}
	return p.command(p.fill(c.run, words), from, "cd %s && %s"), true
}

// setUp returns what a new work tree needs for the project.
func (p project) setUp() []Command {
	line := p.fill("{setup}", nil)
	if line == "" {
		return nil
	}
	return []Command{p.command(line, p.manifest(), "(cd %s && %s)")}
}

// command returns a proposal that is run in the project's folder.
func (p project) command(line, from, in string) Command {
	if p.dir != "." {
		line = fmt.Sprintf(in, shellWord(p.dir), line)
	}
	return Command{Run: line, From: path.Join(p.dir, from)}
}

var placeholder = safetext.Lazily(`\{[a-z]+\}`)

// fill replaces the placeholders of a command, also those in what they stand for.
func (p project) fill(line string, known map[string]string) string {
	return placeholder().ReplaceAllStringFunc(line, func(hole string) string {
		name := hole[1 : len(hole)-1]
		if is, ok := known[name]; ok {
			return is
		}
		for _, w := range p.words {
			if w.name == name && p.holds(w.when) {
				return p.fill(w.is, known)
			}
		}
		return ""
	})
}

// settings are the files of settings in the project.
func (p project) settings() []string {
	var names []string
	for _, name := range settings {
		if isFile(filepath.Join(p.root, p.dir, name)) {
			names = append(names, path.Join(p.dir, name))
		}
	}
	return names
}

// shellWord returns a path quoted as one word of the shell.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if regexp.MustCompile(`^[A-Za-z0-9_./-]+$`).MatchString(s) {
		return s
	}
	return format.ShellWord(s)
}
