package restore

import (
	"context"
	"path"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A plan is what a Restore would do.
type plan struct {
	write, remove, left git.Set
	held                git.Set // of write: what the snapshot has at that path, so that it may be replaced

	now     string                      // the tree that the work tree has
	was, to map[string]repository.Entry // of write and remove: what the work tree has there and what it gets
}

// facts are what the plan is made from.
type facts struct {
	deltas []repository.Delta          // from now to the tree that is to be restored
	since  map[string]repository.Entry // what the snapshot has where the work tree differs from it by now
	hidden map[string]repository.Entry // what a sparse checkout keeps off the disk
	never  git.Set                     // paths of the tree that Open leaves out
}

// plan decides about every path at which the work tree differs from the tree in the stage, and stages what it needs.
func (t *WorkTree) plan(ctx context.Context, s *stage, from, now string) (*plan, error) {
	f, err := t.facts(ctx, s, from, now)
	if err != nil {
		return nil, err
	}
	p := &plan{write: git.Set{}, remove: git.Set{}, left: git.Set{}, held: git.Set{}, now: now, was: map[string]repository.Entry{}, to: map[string]repository.Entry{}}
	links := git.Set{}
	rules, attributes := false, false
	for _, d := range f.deltas {
		if d.Old.IsLink() || d.New.IsLink() {
			links.Add(d.Path)
		}
		rules = rules || path.Base(d.Path) == ".gitignore"
		attributes = attributes || path.Base(d.Path) == ".gitattributes"
	}
	for _, d := range f.deltas {
		switch {
		case f.never[d.Path] || t.IsOwn(d.Path):
		case links[d.Path]:
			p.left.Add(d.Path)
		case links.Above(d.Path): // its link is named
		default:
			if err := p.decide(d, f); err != nil {
				return nil, err
			}
		}
	}
	if rules {
		if err := t.keepIgnored(ctx, s, p); err != nil {
			return nil, err
		}
	}
	if attributes {
		return p, t.refilter(ctx, s, p, f)
	}
	return p, s.checkOut(ctx, git.Sorted(p.write))
}

// facts asks git for them, all at once.
func (t *WorkTree) facts(ctx context.Context, s *stage, from, now string) (*facts, error) {
	f := &facts{since: map[string]repository.Entry{}, never: git.Set{}}
	return f, git.Together(func() (err error) {
		f.deltas, err = t.Deltas(ctx, now, s.tree)
		return err
	}, func() error {
		if from == now {
			return nil
		}
		since, err := t.Deltas(ctx, from, now)
		for _, d := range since {
			f.since[d.Path] = d.Old
		}
		return err
	}, func() (err error) {
		f.hidden, err = t.SparseFiles(ctx)
		return err
	}, func() error {
		never, err := t.LeftOut(ctx, s.git())
		for _, name := range never {
			f.never.Add(name)
		}
		return err
	})
}

// decide enters one path of a file into the plan.
func (p *plan) decide(d repository.Delta, f *facts) error {
	had, changed := f.since[d.Path]
	off, sparse := f.hidden[d.Path]
	switch {
	case sparse && !d.New.Exists():
		p.left.Add(d.Path) // only the user's index could say that it is gone
	case changed && had == d.New:
		p.left.Add(d.Path) // edited since the snapshot where both trees have the same: made, for one, or ignored when it was taken
	case !d.New.Exists() && changed, sparse && d.New == off && changed && d.Old.Exists():
		return &BlockedError{d.Path, inTheWay}
	case !d.New.Exists(), sparse && d.New == off:
		p.remove.Add(d.Path)
		p.was[d.Path] = d.Old
	default:
		p.write.Add(d.Path)
		p.was[d.Path], p.to[d.Path] = d.Old, d.New
		if d.Old.Exists() && !changed {
			p.held.Add(d.Path)
		}
	}
	return nil
}

// keepIgnored drops ignored files from the plan's removals, by the rules of the tree that is restored: they are no part
// of it. What the user tracks is, and so is what stands where something is to be written.
func (t *WorkTree) keepIgnored(ctx context.Context, s *stage, p *plan) error {
	over := git.Set{} // folders in which something is to be written
	for name := range p.write {
		for dir := path.Dir(name); dir != "." && !over[dir]; dir = path.Dir(dir) {
			over.Add(dir)
		}
	}
	list, err := t.TrackedPaths(ctx)
	if err != nil {
		return err
	}
	tracked := git.SetOf(list)
	may := git.Set{}
	for name := range p.remove {
		if !tracked[name] && !over[name] && !p.write.Above(name) {
			may.Add(name)
		}
	}
	ignored, err := s.ignored(ctx, git.Sorted(may), p)
	for _, name := range ignored {
		delete(p.remove, name)
	}
	return err
}

// refilter stages the whole tree, for its filters are others: a file that does not differ from it as git stores it may
// still have other bytes.
func (t *WorkTree) refilter(ctx context.Context, s *stage, p *plan, f *facts) error {
	out, _, err := s.git().Run(ctx, "ls-files", "-z", "-s")
	if err != nil {
		return err
	}
	differs := git.Set{}
	for _, d := range f.deltas {
		differs.Add(d.Path)
	}
	all := git.Set{}
	// "mode id stage\tpath"
	for _, line := range git.Split(out) {
		info, name, _ := strings.Cut(line, "\t")
		_, sparse := f.hidden[name]
		if p.write[name] || !differs[name] && !sparse && !f.never[name] && !t.IsOwn(name) && !strings.HasPrefix(info, repository.ModeLink) {
			all.Add(name)
			if of := strings.Fields(info); !p.write[name] && len(of) == 3 {
				p.to[name] = repository.Entry{Mode: of[0], ID: of[1]}
			}
		}
	}
	if err := s.checkOut(ctx, git.Sorted(all)); err != nil {
		return err
	}
	for name := range all {
		if !p.write[name] && !same(s.path(name), t.Path(name)) {
			p.write.Add(name)
			p.held.Add(name)
			p.was[name] = p.to[name]
		}
	}
	return nil
}
