package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/file"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// SetAside moves state that was not made here into a folder below archive, where it is evidence and nothing reads it, takes
// what git tracks of it out of git's index, and restores the journal of this machine from its hard-linked copy. strange is
// the error of Foreign. It returns what was done, as a sentence.
func SetAside(ctx context.Context, place Place, record *trust.Project, strange *ForeignError, now time.Time) (did string, err error) {
	if strange.Why == OwnedByOther {
		return "", strange
	}
	names := slices.Clone(strange.Files)
	copies, err := Copies(place, record)
	if err != nil {
		return "", err
	}
	if here := copies.Here.Kind; here == file.ForeignCopy || here == file.OlderCopy || here == file.SpecialCopy {
		if strange.Why == OlderJournal && copies.There.Kind != file.ValidCopy {
			return "", &refusal.RefusedError{Code: refusal.ForeignState, Message: "there is no hard-linked copy with the newer lines", Person: true,
				Remedy: "ferrus doctor{branch} --adopt continues from the last line that is left"}
		}
		names = append(names, "journal.jsonl", "STATE.json")
		for _, doc := range state.Docs() {
			names = append(names, string(doc))
		}
	}
	root, err := rootfs.Open(filepath.Join(place.Root, DirName))
	if err != nil {
		return "", err
	}
	defer root.Close()
	rel, err := filepath.Rel(filepath.Join(place.Root, DirName), place.Dir())
	if err != nil {
		return "", err
	}
	aside := path.Join("archive", "foreign-"+now.UTC().Format("20060102-150405.000"))
	slices.Sort(names)
	moved := 0
	for _, name := range slices.Compact(names) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		from := name
		if !slices.Contains(strange.Files, name) {
			from = path.Join(filepath.ToSlash(rel), name)
		}
		if _, err := root.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := path.Join(aside, from)
		if err := root.MkdirAll(path.Dir(to), 0o700); err != nil {
			return "", err
		}
		if err := root.Rename(from, to); err != nil {
			return "", err
		}
		moved++
	}
	if moved > 0 {
		did = fmt.Sprintf("moved %s to %s/%s", format.Count(moved, "file", "files"), DirName, aside)
	}
	if len(strange.Files) > 0 {
		below := make([]string, len(strange.Files))
		for i, name := range strange.Files {
			below[i] = DirName + "/" + name
		}
		if err := worktree.Untrack(ctx, place.Root, below); err != nil {
			return did, err
		}
		did += "; took it out of git's index: commit that"
	}
	return strings.TrimPrefix(did+restored(place, record, copies), "; "), nil
}

// restored brings the journal back where it is missing, and says so.
func restored(place Place, record *trust.Project, was file.Copies) string {
	if _, err := os.Lstat(filepath.Join(place.Dir(), "journal.jsonl")); err == nil {
		return ""
	}
	if was.There.Kind != file.ValidCopy {
		return "; there is no hard-linked copy of a journal of yours to restore"
	}
	if back, err := Revive(place, record); err != nil || !back {
		return "; your journal could not be restored from its hard-linked copy"
	}
	return "; restored your journal from its hard-linked copy"
}
