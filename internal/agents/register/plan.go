package register

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// maxFile bounds what is read of a file. The largest that a person has by hand is far below.
const maxFile = 8 << 20

// A reading is a file as it is.
type reading struct {
	file
	name   string // relative to the project
	target string // where it is, or would be, without links; relative as well, with slashes
	link   bool
	there  bool
	text   []byte
	tree   map[string]any
}

// look finds a path of the project and reads what is there.
func (p Project) look(name string) (reading, error) {
	fault := func(message string, remedy refusal.Own) error { return refuse(name, 0, message, remedy) }
	root, err := p.open()
	if err != nil {
		return reading{}, err
	}
	defer root.Close()
	r, err := resolve(root.Dir(), name)
	if err != nil || !r.there {
		return r, err
	}
	switch r.text, err = root.ReadFile(r.target, maxFile); {
	case errors.Is(err, rootfs.ErrNotRegular), errors.Is(err, rootfs.ErrIsDir):
		return r, fault("it is no file", "move it away")
	case errors.Is(err, rootfs.ErrTooLarge):
		return r, fault("it is too large for a configuration", "move it away")
	case err != nil:
		return r, fault(rootfs.Cause(err).Error(), "see to it that it can be read")
	}
	return r, nil
}

// open opens the project's folder, which is wherever its path leads.
func (p Project) open() (*rootfs.Root, error) {
	dir, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return nil, err
	}
	return rootfs.Open(dir)
}

// resolve finds out where a path of the project leads. Links are followed, for a project may keep one file for several
// clients, but only to other files of the project: neither outside, nor to what git and ferrus keep there.
func resolve(root, name string) (reading, error) {
	r := reading{name: name, target: name, there: true}
	at := root
	for i, parts := 0, strings.Split(name, "/"); i < len(parts); i++ {
		at = filepath.Join(at, parts[i])
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			at = filepath.Join(at, filepath.Join(parts[i+1:]...))
			r.there = false
			break
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			link := path.Join(parts[:i+1]...)
			if at, err = filepath.EvalSymlinks(at); err != nil {
				return r, refuse(link, 0, "it is a link that leads nowhere",
					"remove it, or make the file that it names")
			}
			if !below(root, at) {
				return r, refuse(link, 0, "it is a link that leads out of the project, or to what git or ferrus keep in it: "+at,
					"put a file or folder of the project in its place; nothing was written")
			}
			r.link = i == len(parts)-1
		}
		if err != nil {
			return r, refuse(name, 0, rootfs.Cause(err).Error(),
				"see to it that the folder can be read")
		}
	}
	rel, err := filepath.Rel(root, at)
	r.target = filepath.ToSlash(rel)
	return r, err
}

// below reports whether a path is one of the project that is neither git's nor ferrus's.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(rel)), "/")
	return !slices.Contains(parts, ".git") && !slices.Contains(parts, ".ferrus")
}

// read reads a client's file. One that cannot be parsed is a fault, unless nothing in it can be ours.
func (p Project) read(f file) (reading, error) {
	r, err := p.look(f.place(p.Root))
	r.file = f
	if err != nil {
		return r, err
	}
	r.tree, err = r.parsed(r.text)
	if err != nil && !bytes.Contains(bytes.ToLower(r.text), []byte(agents.ServerName)) {
		r.tree = nil
		return r, nil
	}
	return r, err
}

// parsed is what a text means; one that is blank means nothing.
func (r reading) parsed(text []byte) (map[string]any, error) {
	if blank(text) {
		return map[string]any{}, nil
	}
	tree, err := r.format.parse(text)
	return tree, r.blame(err)
}

// blame names the file in a fault of its format.
func (r reading) blame(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	return refuse(r.name, f.line, f.message, cmp.Or(f.remedy, "fix the file, then run this again; nothing was written"))
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text[offsetJSON(text):])) == 0 }

// at is the value at a path of a parsed file.
func at(tree map[string]any, path []string) (any, bool) {
	var v any = tree
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// in reports whether the bit's place is taken, and whether by the very thing.
func (b bit) in(tree map[string]any) (taken, equal bool) {
	v, ok := at(tree, b.path)
	if b.item {
		list, _ := v.([]any)
		i := slices.IndexFunc(list, b.is)
		return i >= 0, i >= 0 && same(list[i], plain(b.value))
	}
	return ok, ok && same(v, plain(b.value))
}

// is reports whether an item of a list is ours.
func (b bit) is(v any) bool {
	if b.ours != nil {
		return b.ours(v)
	}
	return v == b.value
}

// id names the bit in a memory.
func (b bit) id() string {
	if b.item {
		name, ok := b.value.(string)
		if !ok {
			name = agents.ServerName
		}
		return joined(append(slices.Clone(b.path), name))
	}
	return joined(b.path)
}

// file plans what happens to one file of a client, which has no role if the assignment is empty.
func (p *Plan) file(c client, f file, a assignment) error {
	r, err := p.project.read(f)
	if err != nil {
		return err
	}
	mem := p.record.Files[r.name]
	wanted := a.role != ""
	if !wanted && (!r.there || mem == nil && !bytes.Contains(bytes.ToLower(r.text), []byte(agents.ServerName))) {
		delete(p.record.Files, r.name)
		return nil
	}
	if r.tree == nil {
		if _, err := r.parsed(r.text); err != nil {
			return err
		}
	}
	all := f.bits(p.project, a)
	if i := slices.IndexFunc(all, bit.serves); i >= 0 {
		v, there := at(r.tree, all[i].path)
		_, mine := ours(p.project.Exe, v)
		switch {
		case !there || mine:
		case wanted:
			return refuse(r.name, f.format.line(r.text, all[i].path), "there is a server "+agents.ServerName+" that is not ours",
				"rename or remove it, then run this again; nothing was written")
		default:
			all = slices.Delete(all, i, i+1)
		}
	}
	change := Change{Agent: c.name, Role: a.role, File: r.name, Kind: Unchanged, before: r.text, after: r.text,
		target: r.target, absent: !r.there}
	if r.link {
		change.Link = filepath.Join(p.project.Root, filepath.FromSlash(r.target))
	}
	if wanted {
		for _, b := range all {
			if taken, equal := b.in(r.tree); b.shy && !b.fresh && b.value != "" && taken && !equal && !mem.wrote(b, r.tree) {
				change.Note = strings.Join(b.path, ".") + " is set already and stays: `" + b.value.(string) + "` was not written"
			}
		}
	}
	if !wanted || !r.settled(all, mem) {
		old, there, err := r.without(all, mem, wanted)
		if err != nil {
			return err
		}
		change.after = nil
		if there {
			change.after = append([]byte{}, old...) // never nil, which means that there is no file
		}
		delete(p.record.Files, r.name)
		if wanted {
			var m *memory
			if change.after, m, err = r.with(all, old, there); err != nil {
				return err
			}
			p.record.Files[r.name] = m
		}
	}
	if f.hooks {
		if err := r.unmixed(p.project.Exe); err != nil {
			return err
		}
	}
	if a.hooks && f.hooks && !bytes.Equal(r.text, change.after) {
		if err := p.project.uncommitted(r); err != nil {
			return err
		}
		change.Hooks = slices.ContainsFunc(all, func(b bit) bool {
			_, equal := b.in(r.tree)
			return b.ours != nil && !equal
		})
	}
	switch {
	case change.after == nil:
		change.Kind = Removed
	case !r.there:
		change.Kind = Written
	case !bytes.Equal(r.text, change.after):
		change.Kind = Changed
	}
	if change.Kind != Unchanged && rootfs.Fits(r.name, change.after, maxFile) != nil {
		return refuse(r.name, 0, "with the server of ferrus it would be too large to be read again",
			"make it smaller; nothing was written")
	}
	if wanted || change.Kind != Unchanged {
		p.Changes = append(p.Changes, change)
	}
	return nil
}

// wrote reports whether a shy bit stands there as we wrote it.
func (m *memory) wrote(b bit, tree map[string]any) bool {
	if m == nil {
		return false
	}
	v, _ := at(tree, b.path)
	old, ok := m.Shy[b.id()]
	return ok && same(v, old)
}

// settled reports whether the file says all there is to say, and nothing of ours beside it.
func (r reading) settled(bits []bit, mem *memory) bool {
	for _, b := range bits {
		taken, equal := b.in(r.tree)
		switch {
		case b.off && (!taken || mem.kept(strings.Split(b.id(), "\x00"))):
		case b.off:
			return false
		case b.fresh || equal:
		case b.shy && b.value == "":
			if mem.wrote(b, r.tree) {
				return false
			}
		case b.shy && taken && !mem.wrote(b, r.tree):
		default:
			return false
		}
	}
	return r.there
}
