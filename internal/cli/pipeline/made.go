package pipeline

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// MadeHere refuses a run of which git tracks a file: it comes from a commit, and the commands that it was launched with
// were agreed to by nobody here. It asks git only where the index may list something of the run.
func MadeHere(ctx context.Context, at run.Place, f *run.Folder) error {
	name, err := filepath.Rel(at.Root, f.Dir)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	if !worktree.FindIndex(at.Root).MayTrack(f.Name()) {
		return nil
	}
	files, err := worktree.TrackedFiles(ctx, at.Root, name)
	switch {
	case err != nil:
		return cli.Refuse(refusal.StoreError, "ask git what it tracks in "+name+": "+err.Error(), "check the git repository, then try again")
	case len(files) > 0:
		return cli.Refuse(refusal.ForeignState, fmt.Sprintf("git tracks %s of the run %s: it comes from a commit, not from this machine",
			safetext.Mark(files[0]), f.Name()), refusal.Say("git rm -r --cached %s, if you created it; otherwise delete the folder", name))
	}
	return nil
}
