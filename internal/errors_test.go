package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named are the files that end an error with "NAME: " and another error as it is, and what NAME is of. An error of the
// system names its path itself, and rootfs.Cause leaves that out.
var named = map[string]string{
	"internal/status/stack/join.go":          "a run",
	"internal/cli/demo/branch.go":            "a file of the demonstration",
	"internal/cli/status/doctoragents.go":    "a role",
	"internal/engine/checks/run.go":          "a command",
	"internal/config/parse.go":               "a file; the error is of its text",
	"internal/server/mcpclient/mcpclient.go": "a server, a tool",
	"internal/pipeline/codec.go":             "a role",
	"internal/pipeline/run/act.go":           "a file; the error is of its text",
	"internal/config/set.go":                 "a key",
	"internal/pipeline/run/archive.go":       "a run",
	"internal/pipeline/run/deliver.go":       "a target",
	"internal/pipeline/run/spawn.go":         "a role",
	"internal/pipeline/run/tick.go":          "an action",
	"internal/pipeline/run/turn.go":          "an action",
	"internal/project/queue/queue.go":        "a file; most errors are of its text",
	"internal/store/file/archive.go":         "a task",
	"internal/worktree/checkout/checkout.go": "a tree",
	"internal/worktree/diff.go":              "trees",
	"internal/worktree/remote/ahead.go":      "a commit, a remote",
	"internal/worktree/remote/remote.go":     "a remote",
	"internal/worktree/remote/fetch.go":      "a ref, a remote",
	"internal/worktree/remote/push.go":       "a ref, a remote",
	"internal/worktree/remote/sweep.go":      "refs, a remote",
	"internal/worktree/fingerprint.go":       "a work tree, of whose files one is the matter",
	"internal/worktree/repository/head.go":   "a work tree, of git",
	"internal/worktree/repository/keep.go":   "a name, of git",
	"internal/worktree/repository/linked.go": "a branch",
	"internal/worktree/repository/refs.go":   "a name, of git",
	"internal/worktree/repository/rules.go":  "a work tree, of git",
	"internal/worktree/save.go":              "a work tree and a name, of git",
	"internal/worktree/uncommitted.go":       "a work tree, of git",
}

var endsWithError = regexp.MustCompile(`%[sq]: %[vw]$`)

// TestErrorsNameAPathOnce: "open x: open x: permission denied" helps nobody.
func TestErrorsNameAPathOnce(t *testing.T) {
	programs := []string{"test/bench/", "test/faults/", "test/killresume/", "test/model/"}
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		for _, p := range programs {
			if strings.HasPrefix(name, p) {
				return nil
			}
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			format, ok := call.Args[0].(*ast.BasicLit)
			last, alone := call.Args[len(call.Args)-1].(*ast.Ident)
			if !ok || !alone || last.Name != "err" || !endsWithError.MatchString(strings.Trim(format.Value, "\"`")) {
				return true
			}
			if seen[name] = true; named[name] == "" {
				t.Errorf("%s: %s with err: does it name the same? wrap rootfs.Cause(err)", fset.Position(call.Pos()), format.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range named {
		if !seen[name] {
			t.Errorf("%s: no such error: remove it from the table", name)
		}
	}
}
