package doctor

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// checkMoves looks for files that came out of a work tree while a rollback or a merge replaced them, and are still in
// .ferrus: the command was killed, or a program had them open.
func checkMoves(p *Context) Finding {
	var names []string
	for _, place := range p.withMoves() {
		left, err := movesAt(p, place, (*restore.WorkTree).Leftovers)
		if err != nil {
			return Bad(err.Error(), "ferrus doctor{branch} --fix tries to save what was edited there")
		}
		for _, l := range left {
			names = append(names, l.Files...)
		}
	}
	switch {
	case len(p.withMoves()) == 0:
		return Finding{}
	case len(names) == 0:
		return Fine("no files are left from a move")
	}
	return Noted("a rollback or merge was interrupted, or files were open; it moved away "+clipped(names, 5),
		"ferrus doctor{branch} --fix saves what was edited there; so does the next rollback or merge")
}

func fixMoves(p *Context) (string, error) {
	var said []string
	for _, place := range p.withMoves() {
		edits, err := movesAt(p, place, func(t *restore.WorkTree) ([]restore.Edit, error) { return t.Recover(p.Ctx) })
		if err != nil {
			return "", err
		}
		for _, e := range edits {
			said = append(said, e.String())
		}
	}
	if len(said) == 0 {
		return "nothing had been edited", nil
	}
	return format.Line(strings.Join(said, "; ")), nil
}

// withMoves are the machines of the project in whose folder a move has left something.
func (p *Context) withMoves() (places []project.Place) {
	names, _ := project.Branches(p.Place.Root)
	for _, name := range append([]string{""}, names...) {
		place := project.At(p.Place.Root, name)
		entries, _ := rootfs.ListOwn(filepath.Join(place.Dir(), "git"))
		for _, e := range entries {
			if restore.IsMove(e.Name()) {
				places = append(places, place)
				break
			}
		}
	}
	return places
}

// movesAt asks the work tree of the task at a place.
func movesAt[T any](p *Context, place project.Place, ask func(*restore.WorkTree) ([]T, error)) ([]T, error) {
	e, err := p.open(place, false)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	tree, err := e.Tree(p.Ctx, now)
	if err != nil {
		return nil, err
	}
	list, err := ask(restore.In(tree))
	if err != nil {
		return list, refusal.Git(err)
	}
	return list, nil
}

// clipped names at most so many.
func clipped(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], " "), len(names)-most)
	}
	return strings.Join(names, " ")
}
