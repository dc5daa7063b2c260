package internal

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestTheCommandsOfOwnTextsAreMarked: every command in a text of ferrus that acts on one task has its mark, so that it gets its branch; and
// only constants are converted to the type of these texts, so that what came from elsewhere is never rewritten.
func TestTheCommandsOfOwnTextsAreMarked(t *testing.T) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedImports | packages.NeedExportFile
	list, err := packages.Load(&packages.Config{Mode: mode, Dir: "..", Fset: token.NewFileSet()}, "./internal/...", "./cmd/...")
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, p := range list {
		for _, wrong := range p.Errors {
			t.Error(wrong)
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && p.Name != "refusal" && p.TypesInfo.Types[call.Fun].IsType() &&
					own(p.TypesInfo.Types[call.Fun].Type) && p.TypesInfo.Types[call.Args[0]].Value == nil {
					t.Errorf("%s: a text is converted to refusal.Own", p.Fset.Position(e.Pos()))
				}
				is := p.TypesInfo.Types[e]
				if is.Value == nil || is.Value.Kind() != constant.String || !own(is.Type) {
					return true
				}
				marked++
				for _, command := range refusal.Bare(constant.StringVal(is.Value)) {
					t.Errorf("%s: %s has no %s", p.Fset.Position(e.Pos()), command, refusal.Mark)
				}
				return false
			})
		}
	}
	if marked < 100 {
		t.Errorf("%d texts", marked)
	}
}

func own(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Own" && named.Obj().Pkg().Path() == "github.com/ferrus-go/ferrus/internal/state/refusal"
}
