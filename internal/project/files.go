package project

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// fetched is the name of a file in the folder of a machine: which files of another computer its work tree has.
const fetched = "fetched"

// form is what that file has.
func form(f store.Copy) string { return fmt.Sprintf("%d %s\n", f.Seq, f.Commit) }

// HasFiles returns nil if the work tree of the place has the newest files of its task, as far as anybody knows, or those on which they build. Where another
// computer has newer ones that were not fetched, the error is a *refusal.RefusedError of code FilesElsewhere.
func (p Place) HasFiles(f store.Copy) error {
	if err := p.Here(); err != nil {
		r := refusal.Of(err)
		r.Code = refusal.FilesElsewhere
		return r
	}
	if !f.Elsewhere() {
		return nil
	}
	dir, err := p.OpenDir()
	if err != nil {
		return err
	}
	defer dir.Close()
	if is, _ := dir.ReadFile(fetched, 1<<10); string(is) == form(f) {
		return nil
	}
	r := &refusal.RefusedError{Code: refusal.FilesElsewhere, Message: "the newest files of the task are on " + f.Host, Person: true,
		Remedy: refusal.Say("ferrus branch --fetch %s brings them; see docs/machines.md", p.Branch)}
	if p.Branch == "" {
		r.Remedy = "work on it there; files travel only to branches: ferrus branch NAME"
	}
	return r
}

// RecordFiles records that the work tree has files of another computer.
func (p Place) RecordFiles(f store.Copy) error {
	dir, err := p.OpenDir()
	if err != nil {
		return err
	}
	defer dir.Close()
	return refusal.Folder(dir.WriteFile(fetched, []byte(form(f)), 0o600))
}
