package config

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

// A ProposedCommand is a command for the shell, which stands in the project's folder.
type ProposedCommand struct {
	Run  string
	From string // the file that shows it, and what that says, on one line
}

// A Proposal is what the files of a project suggest.
type Proposal struct {
	Checks []ProposedCommand // nil: nothing was found, and a person has to name the checks
	Setup  []ProposedCommand // what a new work tree needs, in this order
	Files  []string          // files of settings beside the manifests, with slashes; those that git ignores are missing in a new work tree

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

// foreignFolders are folders that contain projects of others, or the output of a build.
var foreignFolders = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "example", "examples", "target", "dist", "build"}

// Propose reads the files in root and up to three folders below it. Only regular files count; of huge files only their existence counts.
// A runner such as make counts where the root has no other checks, and then instead of projects that are only below it.
func Propose(root string) Proposal {
	dirs := foldersBelow(root)
	var p Proposal
	var setups []ProposedCommand // of projects, with or without checks
	for i, dir := range dirs {
		if i == 1 && p.Checks == nil {
			p.run(root)
		}
		for _, e := range ecosystems {
			at := candidate{root, dir, e}
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
		if at := (candidate{root, ".", e}); p.Checks == nil && e.runner && at.is() {
			p.Checks = at.checks(nil)
			p.ran = p.Checks != nil
		}
	}
}

// foldersBelow returns the root, as ".", and the folders below it that may contain projects, with
// slashes, outer ones first.
func foldersBelow(root string) []string {
	dirs := []string{"."}
	for i := 0; i < len(dirs) && len(dirs) < maxFolders; i++ {
		if dirs[i] != "." && strings.Count(dirs[i], "/") == maxDepth-1 {
			continue
		}
		entries, _ := os.ReadDir(filepath.Join(root, dirs[i]))
		for _, e := range entries {
			name := path.Join(dirs[i], e.Name())
			_, err := os.Lstat(filepath.Join(root, name, ".git")) // a repository of its own
			if e.IsDir() && !strings.ContainsAny(e.Name()[:1], "._") && !slices.Contains(foreignFolders, e.Name()) && err != nil {
				dirs = append(dirs, name)
			}
		}
	}
	return dirs
}

// A candidate is a folder, as a project of a tool.
type candidate struct {
	root, dir string // dir is relative to root, with slashes
	ecosystem
}

// is reports whether the folder has such a project.
func (p candidate) is() bool { return p.manifest() != "" }

// manifest returns the first file that shows it, "" for none.
func (p candidate) manifest() string {
	for _, glob := range p.marks {
		if names := p.match(glob); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// in returns the project of the same tool in another folder.
func (p candidate) in(dir string) candidate { return candidate{p.root, dir, p.ecosystem} }

// covered reports whether the checks of a project above test this one too.
func (p candidate) covered(above []string) bool {
	return slices.ContainsFunc(above, func(at string) bool {
		return inFolder(at, p.dir) && p.in(at).is() && p.in(at).holds(p.whole)
	})
}

// inFolder reports whether dir is below at. Both are relative to the root, with slashes.
func inFolder(at, dir string) bool {
	return at != dir && (at == "." || strings.HasPrefix(dir, at+"/"))
}

// checks returns what tests the project; later are the folders that may be below it.
func (p candidate) checks(later []string) []ProposedCommand {
	var list []ProposedCommand
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

func (p candidate) check(c checkLine, later []string) (ProposedCommand, bool) {
	from := p.manifest()
	words := map[string]string{}
	switch {
	case !p.holds(c.when):
		return ProposedCommand{}, false
	case c.scripts != nil:
		name, text := p.script(c.scripts)
		words["script"] = name
		if name == "" {
			if c.below == "" || !p.holds(p.whole) || !slices.ContainsFunc(later, func(dir string) bool {
				name, _ := p.in(dir).script(c.scripts)
				return inFolder(p.dir, dir) && name != ""
			}) {
				return ProposedCommand{}, false
			}
			c.run = c.below
			break
		}
		from += fmt.Sprintf(": %q", format.Clip(text, maxSource))
	case c.targets != nil:
		if words["target"] = p.target(c.targets); words["target"] == "" {
			return ProposedCommand{}, false
		}
	case strings.Contains(c.run, "{packages}"):
		if words["packages"] = p.packages(); words["packages"] == "" {
			return ProposedCommand{}, false
		}
	}
	return p.command(p.fill(c.run, words), from, "cd %s && %s"), true
}

// setUp returns what a new work tree needs for the project.
func (p candidate) setUp() []ProposedCommand {
	line := p.fill("{setup}", nil)
	if line == "" {
		return nil
	}
	return []ProposedCommand{p.command(line, p.manifest(), "(cd %s && %s)")}
}

// command returns a proposal that is run in the project's folder.
func (p candidate) command(line, from, in string) ProposedCommand {
	if p.dir != "." {
		line = fmt.Sprintf(in, shellWord(p.dir), line)
	}
	return ProposedCommand{Run: line, From: path.Join(p.dir, from)}
}

var hole = safetext.Lazily(`\{[a-z]+\}`)

// fill replaces the placeholders of a command, also those in what they stand for.
func (p candidate) fill(line string, known map[string]string) string {
	return hole().ReplaceAllStringFunc(line, func(hole string) string {
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
func (p candidate) settings() []string {
	var names []string
	for _, name := range settingFiles {
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
