package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A reviewer gets a notice of what the patch does not show, and of what was written while the checks ran.
func TestAReviewerIsToldWhatThePatchDoesNotShow(t *testing.T) {
	t.Parallel()
	// The check exchanges the submitted file for a good one, and puts it back: the tree is the same before and after.
	p := enginetest.Repository(t, enginetest.Gate("cp code.txt ../side/bad && echo good >code.txt && grep -q good code.txt && cp ../side/bad code.txt"))
	sup, ex := p.Begun()
	p.Write("pkg/.gitignore", "*\n")
	p.Write("pkg/evil.go", "package evil\n")
	p.Git("config", "core.excludesFile", p.Path(p.Side+"/hidden"))
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Submitted(t, ex)
	r, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	for _, want := range []string{"newly ignored, and in no patch, by pkg/.gitignore:1: pkg/", "git configuration changed", "touched: these files were written or replaced while the check ran, and are as before now: code.txt"} {
		if !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("no %q in %q", want, r.Notices)
		}
	}
}

func TestAnOrdinaryReviewHasNoNotices(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("touch built && mkdir -p out && touch out/x"))
	p.Write(".gitignore", "built\nout/\n.ferrus\n")
	sup, ex := p.Begun()
	p.Write("code.txt", "two\n")
	if err := os.Chmod(p.Path("code.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Submitted(t, ex)
	if r, _ := enginetest.Must2(sup.Review(t.Context()))(t); len(r.Notices) > 0 {
		t.Errorf("notices: %q", r.Notices)
	}
}
