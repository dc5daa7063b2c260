package register

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A staged file waits beside its target to take its name.
type staged struct {
	change *Change
	temp   string // "" for a removal
	done   bool
}

// Write does what was planned: every file is written beside its place first, and only when all of that went well they
// take their names. A file that changed since the plan is refused. If a name cannot be taken after all, those that were
// get their old content back.
func (p *Plan) Write() (err error) {
	root, err := p.project.open()
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := p.unlessChanged()
	if err != nil {
		return err
	}
	defer unlock()
	var made []string
	var list []staged
	defer func() {
		if err == nil {
			return
		}
		for _, s := range list {
			if s.done {
				err = errors.Join(err, s.change.restore(root))
			} else if s.temp != "" {
				_ = root.Remove(s.temp)
			}
		}
		for _, dir := range slices.Backward(made) {
			_ = root.Remove(dir) // of those that are empty again
		}
	}()
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Kind == Unchanged {
			continue
		}
		list = append(list, staged{change: c})
		if c.after == nil {
			if err := c.writable(root); err != nil {
				return err
			}
			continue
		}
		dirs, err := makeDirs(root, path.Dir(c.target))
		made = append(made, dirs...)
		if err != nil {
			return err
		}
		if list[len(list)-1].temp, err = c.stage(root); err != nil {
			return err
		}
	}
	for i := range list {
		s := &list[i]
		if err := s.change.fresh(root); err != nil {
			return err
		}
		if p.step != nil {
			p.step(s.change.File)
		}
		if err := s.take(root); err != nil {
			return err
		}
		s.done = true
		if err := atomicfile.SyncDir(root, path.Dir(s.change.target)); err != nil {
			return err
		}
	}
	p.record.Dirs = append(p.record.Dirs, made...)
	p.sweep(root)
	return p.remember()
}

// take gives the new file its name, or takes the old one away. What comes out is looked at: an edit of the last moment goes
// back, and is refused.
func (s *staged) take(root *rootfs.Root) error {
	c := s.change
	target, err := root.Entry(c.target)
	if err != nil {
		return err
	}
	defer target.Dir.Close()
	temp := target
	temp.Name = path.Base(s.temp)
	if s.temp == "" {
		temp.Name = tempName(c.target)
	}
	out := path.Join(path.Dir(c.target), temp.Name)
	back := func() error { return rootfs.RenameNew(temp, target) }
	switch {
	case s.temp == "":
		err = rootfs.RenameNew(target, temp)
	case c.absent:
		if err = rootfs.RenameNew(temp, target); errors.Is(err, fs.ErrExist) {
			err = c.changed()
		}
		return err
	default:
		err = rootfs.Exchange(temp, target)
		back = func() error { return rootfs.Exchange(temp, target) }
		if errors.Is(err, errors.ErrUnsupported) {
			return root.Rename(s.temp, c.target)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c.changed()
	}
	if err != nil {
		return err
	}
	if was, err := root.ReadFile(out, maxFile); err != nil || !bytes.Equal(was, c.before) {
		if err := back(); err != nil {
			s.temp = "" // it holds the edit
			return refuse(c.File, 0, "somebody changed it just now",
				refusal.Say("the edit is in %s: %v", temp.Path(), rootfs.Cause(err)))
		}
		return c.changed()
	}
	return root.Remove(out)
}

// makeDirs makes a folder and those above it, and returns the ones that were not there, outermost first.
func makeDirs(root *rootfs.Root, dir string) (made []string, err error) {
	for at := dir; at != "."; at = path.Dir(at) {
		if _, err := root.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, root.MkdirAll(dir, 0o777)
}

// writable refuses a file that says that it is not to be written. A rename would not care.
func (c *Change) writable(root *rootfs.Root) error {
	info, err := root.Lstat(c.target)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		return refuse(c.File, 0, "it is read-only",
			"make it writable, then run this again; nothing was written")
	}
	return nil
}

// stage writes the new content beside the target, with its mode.
func (c *Change) stage(root *rootfs.Root) (string, error) {
	if err := c.writable(root); err != nil {
		return "", err
	}
	temp := path.Join(path.Dir(c.target), tempName(c.target))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	if info, statErr := root.Lstat(c.target); statErr == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = atomicfile.Fill(f, bytes.NewReader(c.after))
	} else {
		_ = f.Close()
	}
	if err != nil {
		_ = root.Remove(temp)
		return "", err
	}
	return temp, nil
}

// tempName is a new name beside a file.
func tempName(target string) string {
	return "." + path.Base(target) + "." + rand.Text()[:8] + ".tmp"
}

// fresh refuses to replace what is not what was planned for.
func (c *Change) fresh(root *rootfs.Root) error {
	now, err := root.ReadFile(c.target, maxFile)
	if c.absent && errors.Is(err, fs.ErrNotExist) || err == nil && !c.absent && bytes.Equal(now, c.before) {
		return nil
	}
	return c.changed()
}

func (c *Change) changed() error {
	return refuse(c.File, 0, "somebody changed it just now",
		"run this again; nothing was written")
}

// restore gives a file its old content back, unless somebody has changed it since.
func (c *Change) restore(root *rootfs.Root) error {
	again := Change{Kind: c.Kind, File: c.File, target: c.target, before: c.after, after: c.before, absent: c.after == nil}
	if err := again.fresh(root); err != nil {
		return refuse(c.File, 0, "somebody changed it just now; it keeps that, and what ferrus had written",
			"see to it, then run this again")
	}
	s := staged{change: &again}
	if again.after != nil && !c.absent {
		var err error
		if s.temp, err = again.stage(root); err != nil {
			return err
		}
	}
	return s.take(root)
}

// sweep removes the folders that we made and nothing is left in, and those of our skills.
func (p *Plan) sweep(root *rootfs.Root) {
	for _, c := range p.Changes {
		if c.Kind == Removed && path.Base(c.File) == "SKILL.md" {
			removeEmpty(root, path.Dir(c.target)) // it bears our name
		}
	}
	slices.Sort(p.record.Dirs)
	p.record.Dirs = slices.Compact(p.record.Dirs)
	for _, dir := range slices.Backward(p.record.Dirs) { // the inner ones come after the outer ones
		removeEmpty(root, dir)
	}
	p.record.Dirs = slices.DeleteFunc(p.record.Dirs, func(dir string) bool {
		_, err := root.Lstat(dir)
		return err != nil
	})
}

// removeEmpty removes a folder in which nothing is left. A file or a link by that name stays.
func removeEmpty(root *rootfs.Root, dir string) {
	if info, err := root.Lstat(dir); err == nil && info.IsDir() && path.Clean(dir) != "." {
		_ = root.Remove(dir)
	}
}

// remember writes the record, or removes it when there is nothing to remember.
func (p *Plan) remember() error {
	root, name, err := rootfs.For(p.project.Record)
	if err != nil {
		return err
	}
	defer root.Close()
	text := p.record.text()
	if old, err := root.ReadFile(name, maxRecord); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if text == nil {
		if err := atomicfile.Remove(root, name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Replace(root, name, text, 0o600)
}
