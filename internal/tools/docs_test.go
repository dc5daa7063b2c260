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

	"github.com/ferrus-go/ferrus/internal/tools/worker"
	"github.com/ferrus-go/ferrus/test/golden"
)

// TestTheDocumentationIsTheCatalogue: the page of the tools is made from the catalogue and from the struct of results,
// and a stale one fails.
func TestTheDocumentationIsTheCatalogue(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Tools

Generated from ` + "`internal/tools`" + `; ` + "`go test ./internal/tools -update`" + ` writes it anew.

The role of a connection decides which tools it has; a tool of another role is unknown to it. The state decides whether a
call succeeds: an event of the tool must be possible for the caller (see [the state machine](state-machine.md)). A tool
without events looks, waits, renews or queues, and is let through in any state. Arguments are strings but where the table
says otherwise; a document has 1 to 1,048,576 bytes of UTF-8, is not blank and has no NUL; a line has at most 200
characters. What is misspelt, given twice or of the wrong type is refused with ` + "`invalid_input`" + ` and the nearest name.

`)
	for _, tool := range Catalogue() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", tool.Name, tool.Doc)
		fmt.Fprintf(&b, "%s. For: %s. Events: %s.%s\n\n", tool.Title, named(tool.Roles, "no role"), named(tool.Events, ""),
			map[bool]string{true: " Reads only."}[tool.ReadOnly])
		b.WriteString(arguments(tool.Args))
	}
	b.WriteString("## Results\n\nEvery tool answers with one struct, as structured content and, the same bytes, as the only text block.\n" +
		"`state`, `message`, `next` and `allowed` are always there; the others where they apply. A refusal has `code` and\n`remedy`, and alone is an error.\n\n" +
		"| field | type | |\n|---|---|---|\n")
	b.WriteString(fields(t, "result.go", reflect.TypeFor[Result]()))
	b.WriteString("\n## Codes\n\n")
	for _, line := range constants(t, "../state/refusal/refusal.go", "Code") {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString(workers(t))
	golden.Check(t, "../../docs/tools.md", b.String())
}

// workers is the section of a pipeline's workers: their catalogue, and their struct of results.
func workers(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`
## Workers of a pipeline

Generated from ` + "`internal/tools/worker`" + `. A worker of a [pipeline](pipelines.md) has a server of its own, which ferrus starts for
it: ` + "`ferrus serve --role worker --run DIR --worker NAME --attempt N`" + `. It has these tools and no other, and none of their
arguments is a path; an output may be longer than a document. If an attempt at a worker's work counts no more, because another does the work, the worker was
given up, or the run is over, each call tells it to stop.

`)
	for _, tool := range worker.Catalogue() {
		only := map[bool]string{true: " Only the final worker has it, where the pipeline has `deliver_by` `terminal`; any other is refused."}[tool.Terminal]
		fmt.Fprintf(&b, "### %s\n\n%s%s%s\n\n", tool.Name, tool.Doc, map[bool]string{true: " Reads only."}[tool.ReadOnly], only)
		args := tool.Args
		if turn := tool.Turn; turn.Name != "" {
			turn.Doc = "in a dialogue alone: " + turn.Doc
			args = append(args[:len(args):len(args)], turn)
		}
		b.WriteString(arguments(args))
	}
	b.WriteString("### Results of workers\n\n| field | type | |\n|---|---|---|\n")
	b.WriteString(fields(t, "worker/result.go", reflect.TypeFor[worker.Result]()))
	b.WriteString("\n### Codes of workers\n\n")
	for _, line := range constants(t, "worker/result.go", "Code") {
		b.WriteString("- " + line + "\n")
	}
	return b.String()
}

// arguments is the table of a tool's arguments.
func arguments(args []Arg) string {
	if len(args) == 0 {
		return "No arguments.\n\n"
	}
	var b strings.Builder
	b.WriteString("| argument | type | |\n|---|---|---|\n")
	for _, a := range args {
		kind := "document"
		switch {
		case a.List:
			kind = "list of lines, at most 20"
		case a.Flag:
			kind = "true or false"
		case a.Number > 0:
			kind = "number"
		case a.Line > 0:
			kind = "line"
		}
		if a.Optional {
			kind += ", optional"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, kind, a.Doc)
	}
	return b.String() + "\n"
}

// named joins words of the machine, the zero word as a name of its own.
func named[S ~string](words []S, zero string) string {
	var out []string
	for _, w := range words {
		out = append(out, cmp.Or(string(w), zero))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// fields makes the rows of a struct of results: the name and type of each field, and what its comment says.
func fields(t *testing.T, path string, typ reflect.Type) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
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
			if f.IsExported() && f.Tag.Get("json") != "-" {
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
