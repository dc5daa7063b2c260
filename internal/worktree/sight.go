package worktree

import (
	"context"
	"path"
	"slices"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Sight is what the file system says of the files that count, and of the folders that lead to them, at a moment.
type Sight struct {
	files   []file // in the order of their paths
	folders map[string]filestat.Stat
}

// Look is [Tree.Fingerprint], with a Sight of the files that it is of. Without git there is none.
func (t *Tree) Look(ctx context.Context) (id string, s *Sight, err error) {
	if id, err = t.Fingerprint(ctx); err != nil || id == "" {
		return id, nil, err
	}
	t.mu.Lock()
	l := t.newest
	t.mu.Unlock()
	return id, t.see(l), nil
}

// see makes the Sight of a listing.
func (t *Tree) see(l *listing) *Sight {
	s := &Sight{files: l.files, folders: map[string]filestat.Stat{}}
	for _, f := range l.files {
		for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := s.folders[dir]; ok {
				break
			}
			s.folders[dir], _ = filestat.Lstat(t.Path(dir))
		}
	}
	return s
}

// Touched lists what was written or exchanged between two moments and is still, or again, there: files whose identity
// differs, though their content may be the same, and folders that were moved. A folder in which a file was made or
// removed is none of them. The paths are printable, with a slash after a folder, and at most twenty.
func (s *Sight) Touched(after *Sight) []string {
	if s == nil || after == nil {
		return nil
	}
	var touched []string
	now := after.files
	for _, was := range s.files {
		for len(now) > 0 && now[0].path < was.path {
			now = now[1:]
		}
		if len(now) > 0 && now[0].path == was.path && !was.is.Same(now[0].is) {
			touched = append(touched, git.Printable(was.path))
		}
	}
	for name, was := range s.folders {
		is, ok := after.folders[name]
		if ok && (was.Ino != is.Ino || was.Ctime != is.Ctime && was.Mtime == is.Mtime && was.Mode == is.Mode) {
			touched = append(touched, git.Printable(name)+"/")
		}
	}
	slices.Sort(touched)
	return touched[:min(len(touched), 20)]
}
