//go:build unix

package branch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

var errDies = errors.New("the process dies here")

// TestAHalfMovedMergeIsFinished: however many of its files have been moved when a merge is cut off, the same call finishes
// it. What a person edits in between is still there then, or named.
func TestAHalfMovedMergeIsFinished(t *testing.T) {
	enginetest.InFiles(t, "it starts from copies of a folder")
	// In the order of a restore: removals first.
	moves := []string{"dir/a", "keep.txt", "dir", "moved.txt", "sub/new.txt"}
	edits := map[string]struct {
		edit    func(p *enginetest.Machine)
		refused string // by what it names
		usual   int    // how many have been moved without -full; negative: only with it
	}{
		"no edit":                   {func(*enginetest.Machine) {}, "", 4},
		"an edit beside it":         {func(p *enginetest.Machine) { p.Write("code.txt", "since\n") }, "", 2},
		"a file made since":         {func(p *enginetest.Machine) { p.Write("person.txt", "mine\n") }, "", -1},
		"a removal beside it":       {func(p *enginetest.Machine) { p.Remove("code.txt") }, "", -1},
		"an edit of what is moved":  {func(p *enginetest.Machine) { p.Write("keep.txt", "mine\n") }, "keep.txt", 2},
		"an edit where one is made": {func(p *enginetest.Machine) { p.Write("sub/new.txt", "mine\n") }, "sub/new.txt", 2},
	}
	k := newKill(t, "merge")
	cases, bad := 0, 0
	for name, c := range edits {
		for n := range len(moves) + 1 {
			if !kit.Full() && n != c.usual {
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
func (k *kill) halved(t *testing.T, moved []string, edit func(*enginetest.Machine), named string) {
	p := k.again(t)
	h, alt := p.Human(), p.On("alt")
	if _, err := branch.Merge(t.Context(), h, alt.Human(), func() error { return errDies }); !errors.Is(err, errDies) {
		t.Fatal(err)
	}
	for _, file := range moved {
		p.As(alt, file)
	}
	was := p.All()
	edit(p)
	mine := p.All()
	edited := fmt.Sprint(was) != fmt.Sprint(mine)
	want := alt.All()
	want["code.txt"] = was["code.txt"]
	err := mergeAlt(t.Context(), p, h)
	switch {
	case err != nil && edited:
		enginetest.Refused(t, err, refusal.TreeChanged, "ferrus merge alt", named)
		if got := p.All(); fmt.Sprint(got) != fmt.Sprint(mine) {
			t.Errorf("refused, and from\n%v to\n%v", mine, got)
		}
		for file := range mine {
			p.Remove(file)
		}
		for file, text := range was {
			p.Write(file, text)
		}
		err = mergeAlt(t.Context(), p, h)
	case named != "" && edited:
		t.Errorf("it is not refused: %v", p.All())
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
	if got := p.All(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if a, b := enginetest.Count(t, h.Engine(), state.Merge), enginetest.Count(t, alt.Human().Engine(), state.Merge); a != 1 || b != 1 || !p.Exists(filepath.Join(p.Side, "fenced")) {
		t.Errorf("entered %d times in the project, %d times on the branch, and not fenced", a, b)
	}
}

// TestWhatWasTriedIsTakenBack: a merge that dies while the gate judges the whole leaves that on the branch. The same call puts
// the branch's files back, but not those that a person has edited there.
func TestWhatWasTriedIsTakenBack(t *testing.T) {
	enginetest.InFiles(t, "it starts from copies of a folder")
	k := newKill(t, "merge")
	edits := []string{"moved.txt", "person.txt", ""}[:enginetest.Most(1, 3)] // the last is what all come to
	bad := 0
	for _, edit := range edits {
		ok := t.Run("edit "+edit, func(t *testing.T) {
			p := k.again(t)
			h, alt := p.Human(), p.On("alt")
			approved := alt.All()
			if err := branch.LayMerged(t.Context(), h, alt.Human()); err != nil || alt.Read("code.txt") != "ours\n" {
				t.Fatalf("nothing is tried there: %v", err)
			}
			if edit != "" {
				alt.Write(edit, "mine\n")
				enginetest.Refused(t, mergeAlt(t.Context(), p, h), refusal.TreeChanged, edit)
				if alt.Read(edit) != "mine\n" {
					t.Error("what was edited is gone")
				}
				alt.Remove(edit)
				if text, had := approved[edit]; had {
					alt.Write(edit, text)
				}
			}
			if err := mergeAlt(t.Context(), p, h); err != nil {
				t.Fatal(err)
			}
			mergeDone(t, p)
			p.Tidy()
		})
		if !ok {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(edits), bad)
}

// TestAMergeNamesWhatIsEditedMeanwhile, in the project and on the branch.
func TestAMergeNamesWhatIsEditedMeanwhile(t *testing.T) {
	enginetest.InFiles(t, "it starts from copies of a folder")
	k := newKill(t, "merge")
	p := k.again(t)
	h, alt := p.Human(), p.On("alt")
	had := enginetest.Must(os.OpenFile(p.Path("keep.txt"), os.O_RDWR, 0))(t) // the merge moves it
	defer had.Close()
	got := enginetest.Must(branch.Merge(t.Context(), h, alt.Human(), func() error { return enginetest.Second(had.WriteAt([]byte("mine\n"), 0)) }))(t)
	if got.Files.Edited == nil {
		t.Fatalf("nothing is named; written %q", got.Files.Written)
	}
	if text := got.Notice(); !strings.Contains(text, "keep.txt is still open in another program") {
		t.Errorf("it says %q", text)
	}
}
