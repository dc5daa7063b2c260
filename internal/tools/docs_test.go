package tools

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
)

// TestTheDocumentationIsTheCatalogue: the page of the tools is made from the catalogue and from the struct of results,
// and a stale one fails.
func TestTheDocumentationIsTheCatalogue(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Tools

Generated from ` + "`internal/tools`" + `; ` + "`go test ./internal/tools -update`" + ` writes it anew.

The role of a connection decides which tools it has; a tool of another role is unknown to it. The state decides whether a
call succeeds: an event of the tool must be possible for the caller (see [the state machine](state-machine.md)). A tool
without events looks, waits or renews, and is let through in any state. Arguments are strings; a document has 1 to
1,048,576 bytes of UTF-8, is not blank and has no NUL; a line has at most 200 characters. What is misspelt, given twice
or of the wrong type is refused with ` + "`invalid_input`" + ` and the nearest name.

`)
	for _, tool := range Catalogue() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", tool.Name, tool.Doc)
		fmt.Fprintf(&b, "%s. For: %s. Events: %s.%s\n\n", tool.Title, named(tool.Roles, "no role"), named(tool.Events, ""),
			map[bool]string{true: " Reads only."}[tool.ReadOnly])
		if len(tool.Args) == 0 {
			b.WriteString("No arguments.\n\n")
			continue
		}
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, a := range tool.Args {
			kind := "document"
			switch {
			case a.List:
				kind = "list of lines, at most 20"
			case a.Line:
				kind = "line"
			}
			if a.Optional {
				kind += ", optional"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, kind, a.Doc)
		}
		b.WriteString("\n")
	}
	b.WriteString("## Results\n\nEvery tool answers with one struct, as structured content and, the same bytes, as the only text block.\n" +
		"`state`, `message`, `next` and `allowed` are always there; the others where they apply. A refusal has `code` and\n`remedy`, and alone is an error.\n\n" +
		"| field | type | |\n|---|---|---|\n")
	b.WriteString(fields(t))
	b.WriteString("\n## Codes\n\n")
	for _, line := range constants(t, "../engine/refusal.go", "Code") {
		b.WriteString("- " + line + "\n")
	}
	golden(t, "../../docs/tools.md", b.String())
}

// named joins words of the machine, the zero word as a name of its own.
func named[S ~string](words []S, zero string) string {
	var out []string
	for _, w := range words {
		out = append(out, cmp.Or(string(w), zero))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// fields makes the rows of Result: the name and type of each field, and what its comment says.
func fields(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "result.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var spec *ast.StructType
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && spec == nil {
			spec = s
		}
		return spec == nil
	})
	var b strings.Builder
	typ := reflect.TypeFor[Result]()
	for _, f := range spec.Fields.List {
		said := strings.TrimSpace(f.Comment.Text())
		field, ok := typ.FieldByName(f.Names[0].Name)
		if !ok {
			t.Fatalf("no field %s", f.Names[0].Name)
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, kind(field.Type), said)
	}
	return b.String()
}

// kind is a type as JSON has it.
func kind(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return kind(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + kind(t.Elem())
	case t.String() == "time.Time":
		return "time"
	case t.Kind() == reflect.Struct:
		var keys []string
		for f := range t.Fields() {
			if f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				keys = append(keys, cmp.Or(name, f.Name))
			}
		}
		return "object: " + strings.Join(keys, ", ")
	case t.Kind() == reflect.Bool:
		return "true or absent"
	case t.Kind() == reflect.String:
		return "string"
	}
	return "number"
}

// constants lists the string constants of a type in a file, each with its comment.
func constants(t *testing.T, path, typ string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ && len(v.Values) == 1 {
			lines = append(lines, fmt.Sprintf("`%s`: %s", strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`), strings.TrimSpace(v.Comment.Text())))
		}
		return false
	})
	return lines
}
