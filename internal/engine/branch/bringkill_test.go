//go:build unix

package branch_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

func init() { // beside the others, which are no calls of two computers
	fetching := func(ctx context.Context, _ *enginetest.Machine, h *engine.Session) error {
		return enginetest.Second(branch.Fetch(ctx, h, "alt", ""))
	}
	deeds["bring"], deeds["bring again"] = deed{do: fetching}, deed{do: fetching}
}

// TestAKilledFetchIsFinishedByTheSame: whenever the process dies, nobody works in a work tree that is not whole, and the same call again finishes
// it. An edit of in between is in the work tree or saved.
func TestAKilledFetchIsFinishedByTheSame(t *testing.T) {
	a, b, _, ex := away(t, enginetest.Gate("true")+"[branches]\nsetup = \"echo up >ignored\"\n")
	alt, there := a.On("alt"), b.On("alt")
	alt.Write("code.txt", "two\n")
	alt.Write("new/file.txt", "new\n")
	alt.Remove("keep.txt")
	enginetest.Check(t, ex, state.CheckGreen)
	git := filepath.Join(b.Side, "bin", "git")
	b.Write(git, shim)
	if err := os.Chmod(git, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bring", "bring again"} {
		if name == "bring again" { // the work tree is there, with older files and an edit
			b.Again(t)
			fetch(t, b, "alt", "")
			alt.Write("new/file.txt", "newer\n")
			alt.Remove("code.txt")
			enginetest.Check(t, ex, state.CheckGreen)
			there.Write("edit.txt", "before\n")
			there.Write("new/file.txt", "before\n")
		}
		b.Save()
		k := &kill{b, name}
		t.Run(name, func(t *testing.T) {
			k.again(t)
			points, step := k.cut(0), 1
			if !kit.Full() {
				step = max(1, points/6)
				if !kit.Named() {
					step = max(1, points/3)
				}
			}
			for at := 1; at <= points; at += step {
				t.Run(strconv.Itoa(at), func(t *testing.T) { k.fetchKilled(t, alt, at) })
			}
			t.Logf("points: %d, each %d. of them tried", points, step)
		})
	}
}

// fetchKilled kills the call at a point, and calls it again.
func (k *kill) fetchKilled(t *testing.T, alt *enginetest.Machine, at int) {
	p := k.again(t)
	own, there := p.Users(), p.On("alt")
	if n := k.cut(at); n < at {
		t.Errorf("it has only %d points", n)
	}
	h := there.Human()
	whole := enginetest.View(t, h)
	_, err := h.Engine().Tree(t.Context(), whole)
	edits := there.Exists(".git") && at%2 == 1
	switch {
	case err == nil && there.Exists("edit.txt") && there.Read("edit.txt") == "before\n": // nothing was begun
	case err == nil:
		if diff := cmp.Diff(alt.Disk(), there.Disk()); diff != "" {
			t.Errorf("a work tree that is not whole can be worked in: %s", diff)
		}
		if there.Read("ignored") != "up\n" {
			t.Error("it was not set up")
		}
	default:
		enginetest.Refused(t, err, refusal.WrongState, "ferrus branch --fetch alt")
	}
	if edits {
		there.Write("person.txt", "mine\n")
	}
	got, err := branch.Fetch(t.Context(), p.Human(), "alt", "")
	if err != nil {
		t.Fatalf("again: %v", err)
	}
	if diff := cmp.Diff(alt.Disk(), there.Disk()); diff != "" {
		t.Errorf("other files: %s", diff)
	}
	if there.Read("ignored") != "up\n" {
		t.Error("it was not set up")
	}
	if edits && (got.Saved == "" || p.Git("show", got.Saved+":person.txt") != "mine\n") {
		t.Errorf("the edit is gone: %+v", got)
	}
	if k.name == "bring again" && !edits && got.Saved != "" {
		if text := p.Git("show", got.Saved+":edit.txt"); text != "before\n" {
			t.Errorf("the edit of before is %q", text)
		}
	}
	if _, err := h.Engine().Tree(t.Context(), whole); err != nil {
		t.Error(err)
	}
	if now := p.Users(); now != own {
		t.Errorf("the user's own was\n%s\nand is\n%s", own, now)
	}
	if list := p.Git("worktree", "list", "--porcelain"); len(list) == 0 || there.Exists("../"+"."+"alt.new") {
		t.Errorf("work trees of git:\n%s", list)
	}
}
