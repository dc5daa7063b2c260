package register

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// A staged file waits beside its target to take its name.
type staged struct {
	change *Change
	temp   string // "" for a removal
	done   bool
}

// Write does what was planned: every file is written beside its place first, and only when all of that went well they
// take their names. A file that changed since the plan is a *Fault. If a name cannot be taken after all, those that were
// get their old content back.
func (p *Plan) Write() (err error) {
	var made []string
	var list []staged
	defer func() {
		if err == nil {
			return
		}
		for _, s := range list {
			if s.done {
				err = errors.Join(err, s.change.restore())
			} else if s.temp != "" {
				_ = os.Remove(s.temp)
			}
		}
		for _, dir := range slices.Backward(made) {
			_ = os.Remove(dir) // of those that are empty again
		}
	}()
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Kind == Unchanged {
			continue
		}
		list = append(list, staged{change: c})
		if c.after == nil {
			if err := c.writable(); err != nil {
				return err
			}
			continue
		}
		dirs, err := makeDirs(filepath.Dir(c.target))
		made = append(made, dirs...)
		if err != nil {
			return err
		}
		if list[len(list)-1].temp, err = c.stage(); err != nil {
			return err
		}
	}
	for i := range list {
		s := &list[i]
		if err := s.change.fresh(); err != nil {
			return err
		}
		if s.temp == "" {
			err = os.Remove(s.change.target)
		} else {
			err = os.Rename(s.temp, s.change.target)
		}
		if err != nil {
			return err
		}
		s.done = true
	}
	for _, dir := range made {
		if rel, err := filepath.Rel(p.project.Root, dir); err == nil {
			p.record.Dirs = append(p.record.Dirs, filepath.ToSlash(rel))
		}
	}
	p.sweep()
	return p.remember()
}

// makeDirs makes a folder and those above it, and returns the ones that were not there, outermost first.
func makeDirs(dir string) (made []string, err error) {
	for at := dir; !exists(at); at = filepath.Dir(at) {
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, os.MkdirAll(dir, 0o777)
}

// writable refuses a file that says that it is not to be written. A rename would not care.
func (c *Change) writable() error {
	info, err := os.Stat(c.target)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		return &Fault{File: c.File, Message: "it is read-only", Remedy: "make it writable, then run this again; nothing was written"}
	}
	return nil
}

// stage writes the new content beside the target, with its mode.
func (c *Change) stage() (string, error) {
	if err := c.writable(); err != nil {
		return "", err
	}
	temp := filepath.Join(filepath.Dir(c.target), "."+filepath.Base(c.target)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.after)
	if info, statErr := os.Stat(c.target); statErr == nil && err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(temp)
		return "", err
	}
	return temp, nil
}

// fresh refuses to replace what is not what was planned for.
func (c *Change) fresh() error {
	now, err := os.ReadFile(c.target)
	if c.absent && errors.Is(err, fs.ErrNotExist) || err == nil && !c.absent && bytes.Equal(now, c.before) {
		return nil
	}
	return &Fault{File: c.File, Message: "somebody changed it just now", Remedy: "run this again; nothing was written"}
}

// restore gives a file its old content back.
func (c *Change) restore() error {
	if c.absent {
		return os.Remove(c.target)
	}
	if _, err := os.Stat(c.target); err != nil {
		return os.WriteFile(c.target, c.before, 0o644)
	}
	return os.WriteFile(c.target, c.before, 0) // the mode is that of the file
}

// sweep removes the folders that we made and nothing is left in, and those of our skills.
func (p *Plan) sweep() {
	for _, c := range p.Changes {
		if c.Kind == Removed && path.Base(c.File) == "SKILL.md" {
			_ = os.Remove(filepath.Dir(c.target)) // it bears our name
		}
	}
	slices.Sort(p.record.Dirs)
	p.record.Dirs = slices.Compact(p.record.Dirs)
	for _, dir := range slices.Backward(p.record.Dirs) { // the inner ones come after the outer ones
		_ = os.Remove(filepath.Join(p.project.Root, filepath.FromSlash(dir)))
	}
	p.record.Dirs = slices.DeleteFunc(p.record.Dirs, func(dir string) bool {
		return !exists(filepath.Join(p.project.Root, filepath.FromSlash(dir)))
	})
}

// remember writes the record, or removes it when there is nothing to remember.
func (p *Plan) remember() error {
	text := p.record.text()
	if old, err := os.ReadFile(p.project.Record); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if text == nil {
		if err := os.Remove(p.project.Record); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	temp := p.project.Record + ".tmp"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, p.project.Record)
}
