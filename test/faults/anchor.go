package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A decl is a top-level declaration without its doc comment, or a whole file.
type decl struct {
	file     string
	name     string   // write or (*Store).write; "" for the file
	whole    []string // the lines of the file
	from, to int      // the lines of the declaration
}

// declarations are those of the packages that were read so far, by folder.
type declarations map[string][]decl

// in returns the declarations of a package, without those of its tests.
func (d declarations) in(folder string) ([]decl, error) {
	if list, ok := d[folder]; ok {
		return list, nil
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list, err := declared(filepath.ToSlash(name), text)
		if err != nil {
			return nil, err
		}
		d[folder] = append(d[folder], list...)
	}
	return d[folder], nil
}

// declared returns the declarations of a file, and the file itself.
func declared(file string, text []byte) ([]decl, error) {
	at := token.NewFileSet()
	tree, err := parser.ParseFile(at, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	whole := strings.Split(string(text), "\n")
	list := []decl{{file, "", whole, 0, len(whole)}}
	add := func(name string, of ast.Node) {
		list = append(list, decl{file, name, whole, at.Position(of.Pos()).Line - 1, at.Position(of.End() - 1).Line})
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(funcName(d), d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				of := ast.Node(s)
				if !d.Lparen.IsValid() {
					of = d
				}
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name, of)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(name.Name, of)
					}
				}
			}
		}
	}
	return list, nil
}

// funcName returns the name of a function, with the type of its receiver if it is a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of, _, _ := strings.Cut(types.ExprString(f.Recv.List[0].Type), "[")
	if of[0] == '*' {
		of = "(" + of + ")"
	}
	return of + "." + f.Name.Name
}

// plain writes a method with a pointer as one without: Store.write for (*Store).write.
func plain(decl string) string { return strings.NewReplacer("(*", "", ")", "").Replace(decl) }

// apply returns the file that the mutant changes, and its text with the mistake in it.
func (m Mutant) apply(known declarations) (file, text string, err error) {
	all, err := known.in(m.folder())
	if err != nil {
		return "", "", err
	}
	place, name := m.anchor()
	was, found := m.side("-"), 0
	for _, d := range all {
		if plain(d.name) != plain(name) || place != m.folder() && place != d.file {
			continue
		}
		for i := d.from; i+len(was) <= d.to; i++ {
			if slices.EqualFunc(d.whole[i:i+len(was)], was, alike) {
				found++
				file, text = d.file, strings.Join(slices.Concat(d.whole[:i], m.side("+"), d.whole[i+len(was):]), "\n")
			}
		}
	}
	if found != 1 {
		return "", "", fmt.Errorf("%s: the old lines occur %d times, not once; correct the mutant", strings.TrimPrefix(m.lines[0], "@ "), found)
	}
	return file, text, nil
}

// alike reports whether two lines differ in white space at most.
func alike(a, b string) bool {
	return a == b || slices.Equal(strings.Fields(a), strings.Fields(b))
}
