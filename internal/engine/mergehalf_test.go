//go:build unix

package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

var errDies = errors.New("the process dies here")

// TestAHalfMovedMergeIsFinished: however many of its files have been moved when a merge is cut off, the same call finishes
// it. What a person edits in between is still there then, or named.
func TestAHalfMovedMergeIsFinished(t *testing.T) {
	// In the order of a restore: removals first.
	moves := []string{"dir/a", "keep.txt", "dir", "moved.txt", "sub/new.txt"}
	edits := map[string]struct {
		edit    func(p *machine)
		refused string // by what it names
		usual   int    // how many have been moved without -full; negative: only with it
	}{
		"no edit":                   {func(*machine) {}, "", 4},
		"an edit beside it":         {func(p *machine) { p.write("code.txt", "since\n") }, "", 2},
		"a file made since":         {func(p *machine) { p.write("person.txt", "mine\n") }, "", -1},
		"a removal beside it":       {func(p *machine) { p.remove("code.txt") }, "", -1},
		"an edit of what is moved":  {func(p *machine) { p.write("keep.txt", "mine\n") }, "keep.txt", 2},
		"an edit where one is made": {func(p *machine) { p.write("sub/new.txt", "mine\n") }, "sub/new.txt", 2},
	}
	k := newKill(t, "merge")
	cases, bad := 0, 0
	for name, c := range edits {
		for n := range len(moves) + 1 {
			if !*full && n != c.usual {
				continue
			}
			cases++
			if !t.Run(fmt.Sprint(name, ", ", n, " moved"), func(t *testing.T) { k.halved(t, moves[:n], c.edit, c.refused) }) {
				bad++
			}
		}
	}
	t.Logf("rig: cases=%d bad=%d; %d edits in a merge that moves %d files", cases, bad, len(edits), len(moves))
}

// halved cuts a merge off when it has moved some files, edits others, and merges again.
func (k *kill) halved(t *testing.T, moved []string, edit func(*machine), named string) {
	p := k.again(t)
	h, alt := p.human(), p.on("alt")
	if _, err := h.Merge(t.Context(), alt.human(), func() error { return errDies }); !errors.Is(err, errDies) {
		t.Fatal(err)
	}
	for _, file := range moved {
		p.as(alt, file)
	}
	was := p.all()
	edit(p)
	mine := p.all()
	edited := fmt.Sprint(was) != fmt.Sprint(mine)
	want := alt.all()
	want["code.txt"] = was["code.txt"]
	err := mergeAlt(t.Context(), p, h)
	switch {
	case err != nil && edited:
		refused(t, err, refusal.TreeChanged, "ferrus merge alt", named)
		if got := p.all(); fmt.Sprint(got) != fmt.Sprint(mine) {
			t.Errorf("refused, and from\n%v to\n%v", mine, got)
		}
		for file := range mine {
			p.remove(file)
		}
		for file, text := range was {
			p.write(file, text)
		}
		err = mergeAlt(t.Context(), p, h)
	case named != "" && edited:
		t.Errorf("it is not refused: %v", p.all())
	case edited:
		for _, file := range []string{"code.txt", "person.txt"} {
			if text, there := mine[file]; there {
				want[file] = text
			} else {
				delete(want, file)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := p.all(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if a, b := count(t, h.e, state.Merge), count(t, alt.human().e, state.Merge); a != 1 || b != 1 || !p.exists(filepath.Join(p.side, "fenced")) {
		t.Errorf("entered %d times in the project, %d times on the branch, and not fenced", a, b)
	}
}

// all is all that lies there, but for what git ignores.
func (p *machine) all() map[string]string {
	got := (&walk{machine: p, t: p.t.(*testing.T)}).files()
	delete(got, ".git")
	return got
}

// TestWhatWasTriedIsTakenBack: a merge that dies while the gate judges the whole leaves that on the branch. The same call puts
// the branch's files back, but not those that a person has edited there.
func TestWhatWasTriedIsTakenBack(t *testing.T) {
	k := newKill(t, "merge")
	edits := []string{"moved.txt", "person.txt", ""}[:most(1, 3)] // the last is what all come to
	bad := 0
	for _, edit := range edits {
		ok := t.Run("edit "+edit, func(t *testing.T) {
			p := k.again(t)
			h, alt := p.human(), p.on("alt")
			approved := alt.all()
			m := must(h.merging(t.Context(), alt.human()))(t)
			got := must(m.into.Merge(t.Context(), m.was.Task.BaseTree, m.ours, m.theirs))(t)
			if err := m.lay(t.Context(), got.Tree); err != nil || alt.read("code.txt") != "ours\n" {
				t.Fatalf("nothing is tried there: %v", err)
			}
			if edit != "" {
				alt.write(edit, "mine\n")
				refused(t, mergeAlt(t.Context(), p, h), refusal.TreeChanged, edit)
				if alt.read(edit) != "mine\n" {
					t.Error("what was edited is gone")
				}
				alt.remove(edit)
				if text, had := approved[edit]; had {
					alt.write(edit, text)
				}
			}
			if err := mergeAlt(t.Context(), p, h); err != nil {
				t.Fatal(err)
			}
			mergeDone(t, p)
			p.tidy()
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(edits), bad)
}

// as makes a file of the project what it is on the branch.
func (p *machine) as(alt *machine, file string) {
	p.t.Helper()
	info, err := os.Lstat(alt.path(file))
	if err != nil || info.IsDir() {
		p.remove(file)
		_ = os.Remove(filepath.Dir(p.path(file))) // the last of its folder
		return
	}
	p.write(file, alt.read(file))
}
