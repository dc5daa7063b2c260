//go:build unix

package tools

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var hunt = flag.Bool("hunt", false, "let TestACheckIsAnsweredAtEachPoint run, for some ten minutes")

// reachPoints sets what is called at each point in a build that has them; nil in a usual one.
var reachPoints func(reached func(point string))

// pointsFile is the variable with the name of the file that lists the points.
const pointsFile = "FERRUS_TEST_POINTS"

func pointsToReach() []string {
	text, _ := os.ReadFile(os.Getenv(pointsFile))
	return strings.Fields(string(text))
}

// onTheWay are the packages that a check passes from the call to the disk.
var onTheWay = []string{"filelock", "store", "checks", "engine", "tools/wire", "tools"}

// TestACheckIsAnsweredAtEachPoint builds this package with a point before and after each statement that locks, waits or uses a
// channel, and lets everything happen to a check at each point on its way:
//
//	go test ./internal/tools -run TestACheckIsAnsweredAtEachPoint -hunt -timeout 1h -v
func TestACheckIsAnsweredAtEachPoint(t *testing.T) {
	if !*hunt || reachPoints != nil {
		t.Skip("needs -hunt")
	}
	root, dir := got(filepath.Abs("../.."))(t), t.TempDir()
	replace := map[string]string{}
	add := func(path, text string) {
		file := filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, path)] = file
	}
	add("internal/points/points.go", "package points\n\nvar Reached = func(string) {}\n\nfunc At(point string) { Reached(point) }\n")
	add("internal/tools/reach_test.go", "package tools\n\nimport \"github.com/ferrus-go/ferrus/internal/points\"\n\n"+
		"func init() { reachPoints = func(reached func(string)) { points.Reached = reached } }\n")
	var all []string
	for _, p := range onTheWay {
		for _, file := range got(filepath.Glob(filepath.Join(root, "internal", p, "*.go")))(t) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if text, points := withPoints(t, file); len(points) > 0 {
				add(got(filepath.Rel(root, file))(t), text)
				all = append(all, points...)
			}
		}
	}
	overlay, list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "points"), filepath.Join(dir, "tools.test")
	plan := got(json.Marshal(map[string]any{"Replace": replace}))(t)
	if err := errors.Join(os.WriteFile(overlay, plan, 0o600), os.WriteFile(list, []byte(strings.Join(all, "\n")), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(binary, "-test.run=^TestACheckIsAnsweredWhateverHappens$", "-test.v", "-test.timeout=1h")
	run.Env, run.Stdout, run.Stderr = append(os.Environ(), pointsFile+"="+list), os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		t.Error(err)
	}
}

// withPoints is a Go file with its points, and their names. No line moves.
func withPoints(t *testing.T, file string) (string, []string) {
	text, set := got(os.ReadFile(file))(t), token.NewFileSet()
	tree := got(parser.ParseFile(set, file, text, parser.SkipObjectResolution))(t)
	type insert struct {
		at   int
		text string
	}
	var inserts []insert
	var names []string
	point := func(pos token.Pos, where, form string) {
		name := fmt.Sprintf("%s:%d:%s", filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), set.Position(pos).Line, where)
		for slices.Contains(names, name) {
			name += "+"
		}
		names = append(names, name)
		inserts = append(inserts, insert{set.Position(pos).Offset, fmt.Sprintf(form, fmt.Sprintf("points.At(%q)", name))})
	}
	statements := func(list []ast.Stmt) {
		for _, s := range list {
			if !mayWait(s) {
				continue
			}
			point(s.Pos(), "before", "%s; ")
			switch s.(type) {
			case *ast.ExprStmt, *ast.AssignStmt, *ast.SendStmt, *ast.GoStmt:
				point(s.End(), "after", "; %s")
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			statements(n.List)
		case *ast.CaseClause:
			statements(n.Body)
		case *ast.CommClause:
			point(n.Colon+1, "chosen", " %s;")
			statements(n.Body)
		}
		return true
	})
	if len(inserts) == 0 {
		return "", nil
	}
	inserts = append(inserts, insert{set.Position(tree.Name.End()).Offset, "; import \"github.com/ferrus-go/ferrus/internal/points\""})
	slices.SortStableFunc(inserts, func(a, b insert) int { return b.at - a.at })
	for _, i := range inserts {
		text = slices.Concat(text[:i.at], []byte(i.text), text[i.at:])
	}
	return string(text), names
}

// waiting are the functions that lock, wait, commit or look at the machine, by name.
var waiting = strings.Fields(`Lock RLock TryLock TryRLock Unlock Wait Acquire close cancel Stop View raise Apply Renew transact locked
	jobFor untold standing begin execute settle look standFor Start awaitGate commit write show load Touch handle serve finish encode Run Check`)

// mayWait reports whether a statement itself, not one within it, locks, waits or uses a channel.
func mayWait(s ast.Stmt) (may bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt, *ast.CommClause, *ast.CaseClause, *ast.DeferStmt:
			return false
		case *ast.SelectStmt:
			may = true
			return false
		case *ast.SendStmt, *ast.GoStmt:
			may = true
		case *ast.UnaryExpr:
			may = may || n.Op == token.ARROW
		case *ast.SelectorExpr:
			may = may || slices.Contains(waiting, n.Sel.Name)
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.Ident)
			may = may || ok && slices.Contains(waiting, f.Name)
		}
		return true
	})
	return may
}
