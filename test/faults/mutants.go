package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Mutant is ferrus with one mistake in it, which its rig must notice.
//
// The folder mutants has a text file for each kind of rig. A file has a section for each rig, with its facts and its mutants:
//
//	# run: fifty ticks                         the name of the rig
//	promise: many ticks at once are as good as one
//	test: internal/pipeline/run TestFiftyTicksAreAsOne
//	needs: Linux                               what a machine must have for it beyond Go and git; not in most sections
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

// A Table has every rig with its mutants, in the order of the files, and the lines of the files that they were read from.
type Table struct {
	files map[string][]string
	rigs  []*Rig
}

const mutantFiles = "test/faults/mutants/*.txt"

// readTable reads the files that match a pattern.
func readTable(pattern string) (*Table, error) {
	all := &Table{files: map[string][]string{}}
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no files %s here: %v", pattern, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all.files[name] = strings.Split(string(text), "\n")
		if err := all.add(name); err != nil {
			return nil, err
		}
	}
	return all, all.resolve()
}

// add adds the rigs of a file.
func (all *Table) add(name string) error {
	lines, rig := all.files[name], (*Rig)(nil)
	for i := 0; i < len(lines); i++ {
		kind, text, _ := strings.Cut(lines[i], " ")
		from := i + 1
		for kind == "##" && i+1 < len(lines) && lines[i+1] != "" && strings.Contains("@ -+", lines[i+1][:1]) {
			i++
		}
		switch m := (Mutant{text, lines[from : i+1]}); {
		case lines[i] == "":
		case kind == "#":
			rig = &Rig{Name: text}
			all.rigs = append(all.rigs, rig)
		case rig != nil && len(rig.mutants) == 0 && rig.fact(kind, text):
		case rig != nil && kind == "=":
			rig.mutants = append(rig.mutants, Mutant{Name: text})
		case rig != nil && kind == "##" && len(m.lines) > 1 && strings.HasPrefix(m.lines[0], "@ ") && len(m.side("-")) > 0:
			rig.mutants = append(rig.mutants, m)
		default:
			return fmt.Errorf("%s:%d: %q begins no rig, no fact of one, no whole mutant and no reference", name, from, lines[from-1])
		}
	}
	return nil
}

// resolve replaces references by what they mean.
func (all *Table) resolve() error {
	named := map[string][]Mutant{}
	for m := range all.each {
		named[m.Name] = append(named[m.Name], m)
	}
	for _, r := range all.rigs {
		for i, m := range r.mutants {
			if m.lines != nil {
				continue
			}
			if n := len(named[m.Name]); n != 1 {
				return fmt.Errorf("%s: %d mutants are named %q, not one", r.Name, n, m.Name)
			}
			r.mutants[i] = named[m.Name][0]
		}
	}
	return nil
}

// each yields every mutant that stands in a file, once.
func (all *Table) each(yield func(Mutant) bool) {
	seen := map[*string]bool{}
	for _, r := range all.rigs {
		for _, m := range r.mutants {
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
func (all *Table) write() error {
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
