package register

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// maxFile bounds what is read of a file. The largest that a person has by hand is far below.
const maxFile = 8 << 20

// A reading is a file as it is.
type reading struct {
	file
	name   string // relative to the project
	target string // where it is, or would be, without links
	link   bool
	there  bool
	text   []byte
	tree   map[string]any
}

// look finds a path of the project and reads what is there.
func (p Project) look(name string) (reading, error) {
	r := reading{name: name, target: filepath.Join(p.Root, filepath.FromSlash(name))}
	fault := func(message, remedy string) error { return &Fault{File: name, Message: message, Remedy: remedy} }
	entry, err := os.Lstat(r.target)
	if errors.Is(err, fs.ErrNotExist) {
		// A folder on the way may be a link.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(r.target)); err == nil {
			r.target = filepath.Join(dir, filepath.Base(r.target))
		}
		return r, nil
	}
	if err != nil {
		return r, fault(cause(err), "see to it that the folder can be read")
	}
	if r.target, err = filepath.EvalSymlinks(r.target); err != nil {
		return r, fault("it is a link that leads nowhere", "remove it, or make the file that it names")
	}
	r.link = entry.Mode()&fs.ModeSymlink != 0
	info, err := os.Stat(r.target)
	switch {
	case err != nil:
		return r, fault(cause(err), "see to it that it can be read")
	case !info.Mode().IsRegular():
		return r, fault("it is no file", "move it away")
	case info.Size() > maxFile:
		return r, fault("it is too large for a configuration", "move it away")
	}
	r.there = true
	if r.text, err = os.ReadFile(r.target); err != nil {
		return r, fault(cause(err), "see to it that it can be read")
	}
	return r, nil
}

// cause is an error of the system without the path, which is named already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
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
	var f *Fault
	if errors.As(err, &f) {
		f.File = r.name
		if f.Remedy == "" {
			f.Remedy = "mend the file, then run this again; nothing was written"
		}
	}
	return err
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
		ok = slices.Contains(list, b.value)
		return ok, ok
	}
	return ok, ok && same(v, plain(b.value))
}

// id names the bit in a memory.
func (b bit) id() string {
	if b.item {
		return joined(append(slices.Clone(b.path), b.value.(string)))
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
			return &Fault{File: r.name, Line: f.format.line(r.text, all[i].path),
				Message: "there is a server " + agents.ServerName + " that is not ours",
				Remedy:  "rename or remove it, then run this again; nothing was written"}
		default:
			all = slices.Delete(all, i, i+1)
		}
	}
	change := Change{Agent: c.name, Role: a.role, File: r.name, Kind: Unchanged, before: r.text, after: r.text,
		target: r.target, absent: !r.there}
	if r.link {
		change.Link = r.target
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
	switch {
	case change.after == nil:
		change.Kind = Removed
	case !r.there:
		change.Kind = Written
	case !bytes.Equal(r.text, change.after):
		change.Kind = Changed
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
