package worktree

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A set is of paths relative to the top level, with slashes.
type set map[string]bool

func (s set) add(name string) { s[name] = true }

func sorted(s set) []string { return slices.Sorted(maps.Keys(s)) }

// above reports whether s has a folder that name is in.
func (s set) above(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s[dir] {
			return true
		}
	}
	return false
}

// A plan is what a Restore would do.
type plan struct {
	write, remove, left set
	held                set // of write: what the snapshot has at that path, so that it may be replaced

	now     string           // the tree that the work tree has
	was, to map[string]entry // of write and remove: what the work tree has there and what it gets
}

// facts are what the plan is made from.
type facts struct {
	deltas []delta          // from now to the tree that is to be restored
	since  map[string]entry // what the snapshot has where the work tree differs from it by now
	hidden map[string]entry // what a sparse checkout keeps off the disk
	never  set              // paths of the tree that Open leaves out
}

// plan decides about every path at which the work tree differs from the tree in the stage, and stages what it needs.
func (t *Tree) plan(ctx context.Context, s *stage, from, now string) (*plan, error) {
	f, err := t.facts(ctx, s, from, now)
	if err != nil {
		return nil, err
	}
	p := &plan{write: set{}, remove: set{}, left: set{}, held: set{}, now: now, was: map[string]entry{}, to: map[string]entry{}}
	links := set{}
	rules, attributes := false, false
	for _, d := range f.deltas {
		if d.old.link() || d.new.link() {
			links.add(d.path)
		}
		rules = rules || path.Base(d.path) == ".gitignore"
		attributes = attributes || path.Base(d.path) == ".gitattributes"
	}
	for _, d := range f.deltas {
		switch {
		case f.never[d.path] || t.isOurs(d.path):
		case links[d.path]:
			p.left.add(d.path)
		case links.above(d.path): // its link is named
		default:
			if err := p.decide(d, f); err != nil {
				return nil, err
			}
		}
	}
	if rules {
		if err := t.spare(ctx, s, p); err != nil {
			return nil, err
		}
	}
	if attributes {
		return p, t.refilter(ctx, s, p, f)
	}
	return p, s.checkOut(ctx, sorted(p.write))
}

// facts asks git for them, all at once.
func (t *Tree) facts(ctx context.Context, s *stage, from, now string) (*facts, error) {
	f := &facts{since: map[string]entry{}, never: set{}}
	return f, together(func() (err error) {
		f.deltas, err = t.deltas(ctx, now, s.tree)
		return err
	}, func() error {
		if from == now {
			return nil
		}
		since, err := t.deltas(ctx, from, now)
		for _, d := range since {
			f.since[d.path] = d.old
		}
		return err
	}, func() (err error) {
		f.hidden, err = t.hidden(ctx)
		return err
	}, func() error {
		never, err := t.never(ctx, s.git())
		for _, name := range never {
			f.never.add(name)
		}
		return err
	})
}

// decide enters one path of a file into the plan.
func (p *plan) decide(d delta, f *facts) error {
	had, changed := f.since[d.path]
	off, sparse := f.hidden[d.path]
	switch {
	case sparse && !d.new.exists():
		p.left.add(d.path) // only the user's index could say that it is gone
	case !d.new.exists() && changed && !had.exists():
		p.left.add(d.path) // made since the snapshot, or ignored when it was taken
	case !d.new.exists() && changed, sparse && d.new == off && changed && d.old.exists():
		return &BlockedError{d.path, inTheWay}
	case !d.new.exists(), sparse && d.new == off:
		p.remove.add(d.path)
		p.was[d.path] = d.old
	default:
		p.write.add(d.path)
		p.was[d.path], p.to[d.path] = d.old, d.new
		if d.old.exists() && !changed {
			p.held.add(d.path)
		}
	}
	return nil
}

// hidden lists what the user's index has and a sparse checkout need not have on disk. Where there is no sparse checkout,
// people use git's mark of it to keep a change of theirs out of git's sight: such a file is like any other.
func (t *Tree) hidden(ctx context.Context) (map[string]entry, error) {
	if !exists(filepath.Join(t.gitDir, "info", "sparse-checkout")) {
		return nil, nil
	}
	out, _, err := t.user().Run(ctx, "ls-files", "-z", "-t", "-s")
	hidden := map[string]entry{}
	// "S mode id stage\tpath"
	for _, line := range zsplit(out) {
		info, name, _ := strings.Cut(line, "\t")
		if of := strings.Fields(info); len(of) == 4 && of[0] == "S" {
			hidden[name] = entry{of[1], of[2]}
		}
	}
	return hidden, err
}

// spare takes out of the plan's removals what the rules of the tree that is restored ignore: there it is no part of
// what is restored, and never was. What the user tracks is, and so is what stands where something is to be written.
func (t *Tree) spare(ctx context.Context, s *stage, p *plan) error {
	over := set{} // folders in which something is to be written
	for name := range p.write {
		for dir := path.Dir(name); dir != "." && !over[dir]; dir = path.Dir(dir) {
			over.add(dir)
		}
	}
	out, _, err := t.user().Run(ctx, "ls-files", "-z")
	if err != nil {
		return err
	}
	tracked := set{}
	for _, name := range zsplit(out) {
		tracked.add(name)
	}
	may := set{}
	for name := range p.remove {
		if !tracked[name] && !over[name] && !p.write.above(name) {
			may.add(name)
		}
	}
	ignored, err := s.ignored(ctx, sorted(may), p)
	for _, name := range ignored {
		delete(p.remove, name)
	}
	return err
}

// refilter stages the whole tree, for its filters are others: a file that does not differ from it as git stores it may
// still have other bytes.
func (t *Tree) refilter(ctx context.Context, s *stage, p *plan, f *facts) error {
	out, _, err := s.git().Run(ctx, "ls-files", "-z", "-s")
	if err != nil {
		return err
	}
	differs := set{}
	for _, d := range f.deltas {
		differs.add(d.path)
	}
	all := set{}
	// "mode id stage\tpath"
	for _, line := range zsplit(out) {
		info, name, _ := strings.Cut(line, "\t")
		_, sparse := f.hidden[name]
		if p.write[name] || !differs[name] && !sparse && !f.never[name] && !t.isOurs(name) && !strings.HasPrefix(info, modeLink) {
			all.add(name)
			if of := strings.Fields(info); !p.write[name] && len(of) == 3 {
				p.to[name] = entry{of[0], of[1]}
			}
		}
	}
	if err := s.checkOut(ctx, sorted(all)); err != nil {
		return err
	}
	for name := range all {
		if !p.write[name] && !same(s.path(name), t.path(name)) {
			p.write.add(name)
			p.held.add(name)
			p.was[name] = p.to[name]
		}
	}
	return nil
}
