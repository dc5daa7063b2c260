package confine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestABranchIsRemovedWithWhatItsExecutorKept, also folders that cannot be written.
func TestABranchIsRemovedWithWhatItsExecutorKept(t *testing.T) {
	t.Parallel()
	s := newSite(t, landlocked, "wait_for_task sh:work.sh submit",
		map[string]string{"work.sh": "for d in $HOME $TMPDIR; do mkdir -p $d/a/b && echo >$d/a/b/c && chmod 555 $d/a/b $d/a; done\n"}, "")
	if out, err := s.conduct(t); err != nil || out.Task.State != state.Complete {
		t.Fatalf("%s, %v", out.Task.State, err)
	}
	must(t, s.folder().Drop())
	must(t, s.folder().Drop())
	if _, err := os.Stat(string(s.folder())); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
	kept, err := branch.Remove(t.Context(), s.Human(), "alt", true)
	must(t, err)
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".ferrus", "archive", "branches", kept, "executor")); len(left) > 0 {
		t.Errorf("the archive has %v", left)
	}
	if _, err := os.Stat(s.at.Dir); !os.IsNotExist(err) {
		t.Errorf("the work tree is left: %v", err)
	}
}
