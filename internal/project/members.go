package project

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Member is a project in the view of all projects of a person.
type Member struct {
	ID   string // the same for as long as the project stays where it is
	Root string // its folder, which need not be there; that of its record with Err
	Name string // of the folder, with the one above it where another member has the same name
	Err  error  // why its record cannot be read
}

// Members returns the projects that the person of this process has agreed to, and does not leave out by their own configuration, in the
// order of their names. It looks at records alone and at no project: that one is there, and what may be done in it, is for the caller
// to find out.
func Members() ([]Member, error) {
	own, err := config.LoadPerson()
	if err != nil {
		return nil, err
	}
	all, err := trust.List()
	if err != nil {
		return nil, err
	}
	var list []Member
	same := map[string]int{}
	for _, l := range all {
		if l.Err != nil || l.Agreed && own.InAll(l.Path) {
			list = append(list, Member{l.ID, l.Path, filepath.Base(l.Path), l.Err})
			same[filepath.Base(l.Path)]++
		}
	}
	for i, m := range list {
		if same[m.Name] > 1 {
			list[i].Name = filepath.Join(filepath.Base(filepath.Dir(m.Root)), m.Name)
		}
	}
	slices.SortFunc(list, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Root, b.Root)) })
	return list, nil
}

// There returns why the project cannot be read: its record is damaged, or its folder is gone or not set up.
func (m Member) There() error {
	if m.Err != nil {
		return m.Err
	}
	if _, err := os.Stat(m.Root); errors.Is(err, fs.ErrNotExist) {
		return &refusal.RefusedError{Code: refusal.NotInitialised, Message: "its folder is gone",
			Remedy: refusal.Say("put it back, or take it out by all = false in [project.%q.web] of your own config.toml", m.Root), Person: true}
	}
	if !At(m.Root, "").Initialised() {
		return &refusal.RefusedError{Code: refusal.NotInitialised, Message: "it has no .ferrus, or the journal in it is gone",
			Remedy: refusal.Say("in %s: ferrus init sets it up, and ferrus doctor{branch} --fix restores one that was deleted", m.Root), Person: true}
	}
	return nil
}
