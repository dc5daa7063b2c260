package engine

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

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// exported are all errors that the engine and the packages below it export, each with the code that callers see.
var exported = map[string]struct {
	err  error
	code Code
}{
	"engine.RefusedError":      {&RefusedError{Code: Conflict}, Conflict},
	"engine.ConflictError":     {&ConflictError{RefusedError: RefusedError{Code: Conflict}}, Conflict},
	"engine.UntrustedError":    {&UntrustedError{RefusedError: RefusedError{Code: Untrusted}}, Untrusted},
	"engine.ForeignError":      {&ForeignError{RefusedError: RefusedError{Code: ForeignState}}, ForeignState},
	"state.RefusedError":       {refusedBy(state.Executor, state.Submit), WrongState},
	"state.SchemaError":        {&store.Error{Code: store.StoreError, Err: &state.SchemaError{Version: 9}}, StoreError},
	"state.FieldError":         {&store.Error{Code: store.Corrupt, Err: &state.FieldError{Field: "seq", Why: "is wrong"}}, Corrupt},
	"store.ErrOlder":           {&ForeignError{RefusedError: RefusedError{Code: ForeignState}, Why: OlderJournal}, ForeignState},
	"store.Error":              {&store.Error{Code: store.LockBusy}, LockBusy},
	"filelock.ErrHeld":         {filelock.ErrHeld, LockBusy},
	"worktree.ErrInUse":        {worktree.ErrInUse, LockBusy},
	"git.ErrNoGit":             {git.ErrNoGit, StoreError},
	"worktree.BlockedError":    {&worktree.BlockedError{Path: "a", Why: "is in the way"}, TreeChanged},
	"worktree.StoppedError":    {&worktree.StoppedError{Path: "a", Why: "is in the way"}, TreeChanged},
	"trust.Error":              {&trust.Error{Path: "a", Problem: "is damaged", Remedy: "move it away"}, StoreError},
	"rootfs.ErrLink":           {rootfs.ErrLink, ForeignState},
	"rootfs.ErrNotRegular":     {rootfs.ErrNotRegular, StoreError},
	"rootfs.ErrIsDir":          {rootfs.ErrIsDir, StoreError},
	"rootfs.ErrNotDir":         {rootfs.ErrNotDir, StoreError},
	"rootfs.ErrTooLarge":       {rootfs.ErrTooLarge, StoreError},
	"rootfs.ErrName":           {rootfs.ErrName, InvalidInput},
	"rootfs.ErrChanged":        {rootfs.ErrChanged, StoreError},
	"rootfs.ErrCrossDevice":    {rootfs.ErrCrossDevice, StoreError},
	"fs.ErrPermission":         {fs.ErrPermission, StoreError},
	"context.DeadlineExceeded": {context.DeadlineExceeded, StoreError},
}

func refusedBy(by state.Role, ev state.Event) error {
	_, err := state.Step(state.New(), ev, by, state.Limits{})
	return err
}

// TestEveryExportedErrorHasItsCode: one without would be called store_error, whatever it is.
func TestEveryExportedErrorHasItsCode(t *testing.T) {
	t.Parallel()
	for name, e := range exported {
		r := AsRefused(fmt.Errorf("on the way: %w", e.err))
		if r == nil || r.Code != e.code {
			t.Errorf("%s: %+v, not %s", name, r, e.code)
		}
	}
	for _, pkg := range []string{"engine", "state", "store", "lease", "checks", "platform/filelock", "git", "worktree", "trust", "rootfs", "queue", "environ"} {
		for _, name := range errorsOf(t, filepath.Join("..", pkg)) {
			if name = path.Base(pkg) + "." + name; exported[name].err == nil {
				t.Errorf("%s has no code: give it a row in kinds and here", name)
			}
		}
	}
	if AsRefused(errors.New("any other")) != nil || AsRefused(nil) != nil || AsRefused(context.Canceled) != nil {
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
