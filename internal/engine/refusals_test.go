package engine_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// exported are all errors that the engine and the packages below it export, each with the code that callers see.
var exported = map[string]struct {
	err  error
	code refusal.Code
}{
	"engine.RefusedError":      {&refusal.RefusedError{Code: refusal.Conflict}, refusal.Conflict},
	"engine.ConflictError":     {&branch.ConflictError{RefusedError: refusal.RefusedError{Code: refusal.Conflict}}, refusal.Conflict},
	"engine.UntrustedError":    {&agreement.UntrustedError{RefusedError: refusal.RefusedError{Code: refusal.Untrusted}}, refusal.Untrusted},
	"engine.ForeignError":      {&project.ForeignError{RefusedError: refusal.RefusedError{Code: refusal.ForeignState}}, refusal.ForeignState},
	"state.RefusedError":       {refusedBy(state.Executor, state.Submit), refusal.WrongState},
	"state.SchemaError":        {refusal.Because(refusal.StoreError, "", &state.SchemaError{Version: 9}, ""), refusal.StoreError},
	"state.FieldError":         {refusal.Because(refusal.Corrupt, "", &state.FieldError{Field: "seq", Why: "is wrong"}, ""), refusal.Corrupt},
	"store.ErrOlder":           {&project.ForeignError{RefusedError: refusal.RefusedError{Code: refusal.ForeignState}, Why: project.OlderJournal}, refusal.ForeignState},
	"store.Error":              {&refusal.RefusedError{Code: refusal.LockBusy}, refusal.LockBusy},
	"filelock.ErrHeld":         {filelock.ErrHeld, refusal.LockBusy},
	"checkout.ErrInUse":        {checkout.ErrInUse, refusal.LockBusy},
	"git.ErrNoGit":             {git.ErrNoGit, refusal.StoreError},
	"repository.ErrNoCommit":   {repository.ErrNoCommit, refusal.StoreError},
	"repository.HookError":     {&repository.HookError{Files: []string{"a"}}, refusal.TreeChanged},
	"queue.InvalidError":       {&queue.InvalidError{Err: &refusal.RefusedError{Code: refusal.InvalidInput}}, refusal.InvalidInput},
	"restore.BlockedError":     {&restore.BlockedError{Path: "a", Why: "is in the way"}, refusal.TreeChanged},
	"restore.StoppedError":     {&restore.StoppedError{Path: "a", Why: "is in the way"}, refusal.TreeChanged},
	"rootfs.ErrLink":           {rootfs.ErrLink, refusal.ForeignState},
	"rootfs.ErrNotRegular":     {rootfs.ErrNotRegular, refusal.StoreError},
	"rootfs.ErrIsDir":          {rootfs.ErrIsDir, refusal.StoreError},
	"rootfs.ErrNotDir":         {rootfs.ErrNotDir, refusal.StoreError},
	"rootfs.ErrTooLarge":       {rootfs.ErrTooLarge, refusal.StoreError},
	"rootfs.ErrUnreadable":     {rootfs.ErrUnreadable, refusal.StoreError},
	"rootfs.ErrName":           {rootfs.ErrName, refusal.InvalidInput},
	"rootfs.ErrChanged":        {rootfs.ErrChanged, refusal.StoreError},
	"rootfs.ErrCrossDevice":    {rootfs.ErrCrossDevice, refusal.StoreError},
	"fs.ErrPermission":         {fs.ErrPermission, refusal.StoreError},
	"context.DeadlineExceeded": {context.DeadlineExceeded, refusal.StoreError},
}

func refusedBy(by state.Role, ev state.Event) error {
	_, err := state.Step(state.New(), ev, by, state.Limits{})
	return err
}

// TestEveryExportedErrorHasItsCode: one without would be called store_error, whatever it is.
func TestEveryExportedErrorHasItsCode(t *testing.T) {
	t.Parallel()
	for name, e := range exported {
		r := refusal.Of(fmt.Errorf("on the way: %w", e.err))
		if r == nil || r.Code != e.code {
			t.Errorf("%s: %+v, not %s", name, r, e.code)
		}
	}
	for _, pkg := range []string{"engine", "state", "store", "lease", "engine/checks", "platform/filelock", "worktree/git", "worktree", "worktree/checkout", "worktree/repository", "worktree/restore", "config/trust", "platform/rootfs", "project/queue"} {
		for _, name := range errorsOf(t, filepath.Join("..", pkg)) {
			if name = path.Base(pkg) + "." + name; exported[name].err == nil {
				t.Errorf("%s has no code: give it a row in kinds and here", name)
			}
		}
	}
	if refusal.Of(errors.New("any other")) != nil || refusal.Of(nil) != nil || refusal.Of(context.Canceled) != nil {
		t.Error("what is no error of ours is a refusal")
	}
}

// errorsOf are the exported errors of a package: variables called Err..., types called ...Error, and those with a RefusedError in them.
func errorsOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if g.Tok == token.VAR && strings.HasPrefix(n.Name, "Err") {
							names = append(names, n.Name)
						}
					}
				case *ast.TypeSpec:
					if s.Name.IsExported() && (strings.HasSuffix(s.Name.Name, "Error") || embeds(s, "RefusedError")) {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	return names
}

// embeds reports whether a struct type embeds another type of its package.
func embeds(s *ast.TypeSpec, name string) bool {
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, f := range st.Fields.List {
		if id, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 && id.Name == name {
			return true
		}
	}
	return false
}
