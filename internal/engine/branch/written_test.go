package branch_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// writes is a gate whose commands write a file, from another one.
const writes = "mkdir -p cache && cp code.txt cache/copy"

// TestAMergeWhoseChecksWriteFilesSaysTheLineAndThenSucceeds: what the checks have written was approved with the work, and they write
// it again on the merged result. The line that the refusal names is all that a person has to add, wherever the checks run.
func TestAMergeWhoseChecksWriteFilesSaysTheLineAndThenSucceeds(t *testing.T) {
	for _, how := range []string{"in .gitignore", "in .gitignore, and git tracks another copy"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			tracked := strings.HasSuffix(how, "copy")
			p := enginetest.Repository(t, enginetest.Gate(writes))
			if tracked { // what a person has added to git by force is work
				p.Write(".gitignore", "/.ferrus/\n/kept/\n")
				p.Write("kept/a", "a\n")
				p.Git("add", "-f", ".")
				p.Git("commit", "-qm", "kept")
			}
			h := p.Human()
			enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true})
			alt := p.On("alt")
			enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
			ex := alt.Executor("codex")
			enginetest.Claim(t, ex)
			alt.Write("new.txt", "new\n")
			alt.Write("cache/other", "made by a compiler\n")
			if tracked {
				alt.Write("kept/a", "b\n")
			}
			enginetest.Check(t, ex, state.CheckMoved)
			enginetest.Submitted(t, ex)
			enginetest.Must(alt.Human().Approve(t.Context(), "", ""))(t)

			p.Write("code.txt", "edited\n")
			for range 2 { // it is refused again and again
				_, err := branch.Merge(t.Context(), h, alt.Human(), nil)
				if refusal.CodeOf(err) != refusal.TreeChanged || !strings.Contains(err.Error(), "cache/copy") {
					t.Fatalf("%v", err)
				}
				var r *refusal.RefusedError
				errors.As(err, &r)
				if !strings.Contains(r.Remedy.String(), "\n    /cache/copy\n") || !strings.Contains(r.Remedy.String(), "ferrus merge alt") {
					t.Errorf("the remedy is %q", r.Remedy)
				}
			}
			rules, _ := os.ReadFile(p.Path(".gitignore"))
			p.Write(".gitignore", string(rules)+"/cache/\n")
			if err := branch.LayMerged(t.Context(), h, alt.Human()); err != nil { // a merge that is killed while its checks run
				t.Fatal(err)
			}
			alt.Write("cache/copy", "written by the checks of that merge\n")
			got, err := branch.Merge(t.Context(), h, alt.Human(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.Read("new.txt") != "new\n" || p.Exists("cache") || !slices.Equal(got.Ignored, []string{"cache/copy", "cache/other"}) || len(got.Files.Edited) > 0 {
				t.Errorf("%+v, ignored %q", got.Files, got.Ignored)
			}
			if tracked && p.Read("kept/a") != "b\n" {
				t.Error("a file that git tracks was left out")
			}
		})
	}
}
