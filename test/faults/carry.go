package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

var errUsage = errors.New(`usage, after the code was changed:
  go run ./test/faults rename <package folder> <old> <new>
  go run ./test/faults move <from package> <to package> [<declaration>...]
  go run ./test/faults build`)

// carry changes the mutants as the code was changed, and prints those that do not fit the code. Each mutant may be changed
// in several ways: carry takes the first that fits, so that a name with another meaning stays as it is.
func carry(out io.Writer, pattern string, args []string) error {
	all, err := readTable(pattern)
	if err != nil {
		return err
	}
	var ways func(Mutant) [][]string
	switch {
	case len(args) == 4 && args[0] == "rename" && token.IsIdentifier(args[2]) && token.IsIdentifier(args[3]):
		ways = renamed(path.Clean(args[1]), args[2], args[3])
	case len(args) >= 3 && args[0] == "move":
		ways = moved(path.Clean(args[1]), path.Clean(args[2]), args[3:])
	case len(args) == 1 && args[0] == "build":
		return all.build(out)
	default:
		return errUsage
	}
	known, changed, unfit := declarations{}, 0, 0
	for m := range all.each {
		was := slices.Clone(m.lines)
		list := ways(m)
		fits := func(lines []string) bool {
			_, _, err := Mutant{m.Name, lines}.apply(known)
			return err == nil
		}
		copy(m.lines, list[max(0, slices.IndexFunc(list, fits))])
		if !slices.Equal(m.lines, was) {
			changed++
		}
		if _, _, err := m.apply(known); err != nil {
			unfit++
			fmt.Fprintf(out, "%s: %v\n", m.Name, err)
		}
	}
	fmt.Fprintf(out, "%d mutants changed, %d do not fit the code\n", changed, unfit)
	return all.write()
}

// renamed returns the ways to change a mutant after an identifier of a package was renamed.
func renamed(folder, was, now string) func(Mutant) [][]string {
	pkg := path.Base(folder)
	word := regexp.MustCompile(`\b` + was + `\b`)
	qualified := regexp.MustCompile(`\b` + pkg + `\.` + was + `\b`)
	member := regexp.MustCompile(`\.` + was + `\b`)
	return func(m Mutant) [][]string {
		if m.folder() != folder {
			return [][]string{change(m.lines, qualified, pkg+"."+now), change(m.lines, member, "."+now), m.lines}
		}
		place, decl := m.anchor()
		there := anchorLine(place, word.ReplaceAllString(decl, now))
		text := change(m.lines, word, now)
		return [][]string{
			slices.Concat(there, text[1:]),
			text,
			slices.Concat(there, m.lines[1:]),
			m.lines,
		}
	}
}

// moved returns the ways to change a mutant after declarations, or all without any named, were moved to another package.
func moved(from, to string, decls []string) func(Mutant) [][]string {
	names := `\w+`
	if len(decls) > 0 {
		names = strings.Join(decls, "|")
	}
	qualified := regexp.MustCompile(`\b` + path.Base(from) + `\.(` + plain(names) + `)\b`)
	goes := func(decl string) bool {
		return len(decls) == 0 || slices.ContainsFunc(decls, func(d string) bool {
			return plain(d) == plain(decl) || strings.HasPrefix(plain(decl), plain(d)+".") // a type with its methods
		})
	}
	return func(m Mutant) [][]string {
		there := m.lines[:1]
		if place, decl := m.anchor(); m.folder() == from && goes(decl) {
			there = anchorLine(to+strings.TrimPrefix(place, from), decl)
		}
		return [][]string{
			slices.Concat(there, change(m.lines, qualified, path.Base(to)+".$1")[1:]),
			slices.Concat(there, m.lines[1:]),
		}
	}
}

func anchorLine(place, decl string) []string {
	return []string{strings.TrimSpace("@ " + place + " " + decl)}
}

// change replaces a text in all lines of a mutant but its anchor.
func change(lines []string, what *regexp.Regexp, by string) []string {
	lines = slices.Clone(lines)
	for i := 1; i < len(lines); i++ {
		lines[i] = what.ReplaceAllString(lines[i], by)
	}
	return lines
}

// build compiles every mutant and prints those that do not compile: nothing else finds an old name in a new line.
func (all *Table) build(out io.Writer) error {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bad := 0
	for m := range all.each {
		overlay, err := m.overlay(dir)
		if err == nil {
			err = built(overlay, m.folder())
		}
		if err != nil {
			bad++
			fmt.Fprintf(out, "%s: %v\n", m.Name, err)
		}
	}
	fmt.Fprintf(out, "%d mutants do not compile\n", bad)
	return nil
}

func built(overlay, folder string) error {
	said, err := exec.Command("go", "build", "-o", os.DevNull, "-overlay="+overlay, "./"+folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said))
	}
	return nil
}
