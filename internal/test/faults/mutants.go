package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Mutant is ferrus with one mistake in it, which its rig must notice.
//
// The folder mutants has a text file for each kind of rig. A file has a section for each rig, with its mutants:
//
//	# run: fifty ticks                         the name of the rig
//
//	## each look is written down               the name of the mutant
//	@ internal/pipeline/run (*Folder).tick     its anchor: the folder of a package, and a top-level declaration
//	 	a line that stays
//	-	a line that the mutant does not have
//	+	a line that it has instead
//
//	= ticks take no lock                       a mutant of another section, by its name
//
// The old lines, which begin with a space or "-", occur exactly once in the declaration. They are whole lines, and white
// space does not count. For lines outside of declarations, the anchor is the path of a file; a path and a declaration
// mean the declaration in that file.
type Mutant struct {
	Name  string
	lines []string // the anchor and the change, as they stand in the file of mutants; nil for a reference
}

// Mutants are the mutants of every rig, and the lines of the files that they were read from.
type Mutants struct {
	files map[string][]string
	rigs  map[string][]Mutant
}

const mutantFiles = "internal/test/faults/mutants/*.txt"

// readMutants reads the files that match a pattern.
func readMutants(pattern string) (Mutants, error) {
	all := Mutants{map[string][]string{}, map[string][]Mutant{}}
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		return all, fmt.Errorf("no files %s here: %v", pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return all, err
		}
		all.files[name] = strings.Split(string(text), "\n")
		if err := all.add(name); err != nil {
			return all, err
		}
	}
	return all, all.resolve()
}

// add adds the mutants of a file.
func (all Mutants) add(name string) error {
	lines, rig := all.files[name], ""
	for i := 0; i < len(lines); i++ {
		kind, text, _ := strings.Cut(lines[i], " ")
		from := i + 1
		for kind == "##" && i+1 < len(lines) && lines[i+1] != "" && strings.Contains("@ -+", lines[i+1][:1]) {
			i++
		}
		switch m := (Mutant{text, lines[from : i+1]}); {
		case lines[i] == "":
		case kind == "#":
			rig = text
		case rig != "" && kind == "=":
			all.rigs[rig] = append(all.rigs[rig], Mutant{Name: text})
		case rig != "" && kind == "##" && len(m.lines) > 1 && strings.HasPrefix(m.lines[0], "@ ") && len(m.side("-")) > 0:
			all.rigs[rig] = append(all.rigs[rig], m)
		default:
			return fmt.Errorf("%s:%d: %q begins no rig, no whole mutant and no reference", name, from, lines[from-1])
		}
	}
	return nil
}

// resolve replaces references by what they mean.
func (all Mutants) resolve() error {
	named := map[string][]Mutant{}
	for m := range all.each {
		named[m.Name] = append(named[m.Name], m)
	}
	for rig, list := range all.rigs {
		for i, m := range list {
			if m.lines != nil {
				continue
			}
			if n := len(named[m.Name]); n != 1 {
				return fmt.Errorf("%s: %d mutants are named %q, not one", rig, n, m.Name)
			}
			list[i] = named[m.Name][0]
		}
	}
	return nil
}

// each yields every mutant that stands in a file, once.
func (all Mutants) each(yield func(Mutant) bool) {
	seen := map[*string]bool{}
	for _, rig := range slices.Sorted(maps.Keys(all.rigs)) {
		for _, m := range all.rigs[rig] {
			if m.lines == nil || seen[&m.lines[0]] {
				continue
			}
			seen[&m.lines[0]] = true
			if !yield(m) {
				return
			}
		}
	}
}

// write writes the files as their lines are now.
func (all Mutants) write() error {
	for name, lines := range all.files {
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// anchor returns the folder or file, and the declaration.
func (m Mutant) anchor() (place, decl string) {
	place, decl, _ = strings.Cut(strings.TrimPrefix(m.lines[0], "@ "), " ")
	return place, decl
}

// folder returns the folder of the package.
func (m Mutant) folder() string {
	place, _ := m.anchor()
	if strings.HasSuffix(place, ".go") {
		return path.Dir(place)
	}
	return place
}

// side returns the old lines for "-", the new ones for "+".
func (m Mutant) side(sign string) (lines []string) {
	for _, l := range m.lines[1:] {
		if l[:1] == sign || l[:1] == " " {
			lines = append(lines, l[1:])
		}
	}
	return lines
}
