package file

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A simdisk is a disk in memory that knows what of it is durable. It promises as little as POSIX does: datasync makes
// a file's content and size durable and not its name, syncDir the names in one folder and neither what they name nor
// the folder's own name. The lock file alone is a real one, for flock needs the kernel; it holds nothing, and the
// processes that a power cut ends hold no lock.
type simdisk struct {
	real   disk     // has the lock file
	inodes []*inode // the first is the folder itself
	clock  int64    // counts the changes
	seen   func(op string)
	plain  bool // it can rename and not exchange
}

// An inode is a file or a folder, whatever its name.
type inode struct {
	folder   bool
	versions [][]byte       // of a file: the durable one, then one for each change since; the last is what is read
	names    map[string]int // of a folder, as they are read
	kept     map[string]int // those that are durable
	pending  []change       // of the names, since they were durable
	mod      int64
}

// A change is one operation on the names in a folder. It happens whole or not at all.
type change struct {
	name  string
	inode int    // what the name names from now on; with gone, what it named
	from  string // the name that it had, if it was renamed
	other int    // what has that name from now on, if the two were exchanged; 0 for none
	gone  bool   // the name was removed
	at    int64
}

func (c change) apply(names map[string]int) {
	switch {
	case !c.gone:
		names[c.name] = c.inode
		if c.from != c.name && names[c.from] == c.inode && c.from != "" {
			delete(names, c.from)
			if c.other != 0 {
				names[c.from] = c.other
			}
		}
	case names[c.name] == c.inode:
		delete(names, c.name)
	}
}

func newFolder() *inode {
	return &inode{folder: true, names: map[string]int{}, kept: map[string]int{}}
}

// newSimdisk returns an empty disk for a store in dir, a real folder for the lock.
func newSimdisk(t testing.TB, dir string) *simdisk {
	t.Helper()
	must(0, os.MkdirAll(dir, 0o700))
	real := must(openDisk(dir))
	t.Cleanup(func() { real.close() })
	return &simdisk{real: real, inodes: []*inode{newFolder()}}
}

// over is what Options.disk wants.
func (d *simdisk) over(string) (disk, error) { return d, nil }

// clone copies the disk with what is not durable, as a process leaves it that is killed.
func (d *simdisk) clone() *simdisk {
	c := &simdisk{real: d.real, clock: d.clock, plain: d.plain, inodes: make([]*inode, len(d.inodes))}
	for i, n := range d.inodes {
		c.inodes[i] = &inode{n.folder, slices.Clone(n.versions), maps.Clone(n.names), maps.Clone(n.kept), slices.Clone(n.pending), n.mod}
	}
	return c
}

// settle makes everything durable, as half a minute without events does.
func (d *simdisk) settle() {
	for _, n := range d.inodes {
		if n.folder {
			n.kept, n.pending = maps.Clone(n.names), nil
		} else {
			n.versions = n.versions[len(n.versions)-1:]
		}
	}
}

// put writes a file: the first version is durable.
func (d *simdisk) put(name string, versions ...string) {
	f := must(d.open(name, os.O_CREATE)).(*simfile)
	f.versions = nil
	for _, text := range versions {
		f.versions = append(f.versions, []byte(text))
	}
}

// peek reads a file, "" where there is none.
func (d *simdisk) peek(name string) string {
	n, _, _, err := d.find(name)
	if err != nil {
		return ""
	}
	return string(n.data())
}

// changed ends an operation that changed something.
func (d *simdisk) changed(op string, n *inode) {
	d.clock++
	n.mod = d.clock
	if d.seen != nil {
		d.seen(op)
	}
}

// find returns the inode of a name and its number, and the folder that it stands in even where there is no such name.
func (d *simdisk) find(name string) (n *inode, id int, in *inode, err error) {
	if name == "." {
		return d.inodes[0], 0, nil, nil
	}
	in = d.inodes[0]
	if above := path.Dir(name); above != "." {
		if in, _, _, err = d.find(above); err != nil {
			return nil, 0, nil, err
		}
	}
	id, ok := in.names[path.Base(name)]
	if !ok {
		return nil, 0, in, &fs.PathError{Op: "find", Path: name, Err: fs.ErrNotExist}
	}
	return d.inodes[id], id, in, nil
}

// record makes a change of names.
func (d *simdisk) record(op string, in *inode, c change) {
	c.at = d.clock
	c.apply(in.names)
	in.pending = append(in.pending, c)
	d.changed(op, in)
}

func (d *simdisk) open(name string, flag int) (file, error) {
	if name == lockFile {
		return d.real.open(name, flag)
	}
	n, _, in, err := d.find(name)
	switch {
	case err == nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case err != nil && (in == nil || flag&os.O_CREATE == 0):
		return nil, err
	case err != nil:
		n = &inode{versions: [][]byte{nil}, mod: d.clock}
		d.inodes = append(d.inodes, n)
		d.record("create "+name, in, change{name: path.Base(name), inode: len(d.inodes) - 1})
	}
	return &simfile{disk: d, inode: n, name: name}, nil
}

func (d *simdisk) rename(from, to string) error {
	_, id, in, err := d.find(from)
	if err == nil {
		d.record("rename "+to, in, change{name: path.Base(to), inode: id, from: path.Base(from)})
	}
	return err
}

func (d *simdisk) exchange(a, b string) error {
	_, id, in, err := d.find(a)
	_, other, _, none := d.find(b)
	if err = errors.Join(err, none); err == nil && (d.plain || path.Dir(a) != ".") {
		err = errors.ErrUnsupported
	}
	if err == nil {
		d.record("exchange "+b, in, change{name: path.Base(b), inode: id, from: path.Base(a), other: other})
	}
	return err
}

func (d *simdisk) remove(name string) error {
	n, id, in, err := d.find(name)
	if err == nil && len(n.names) > 0 {
		err = &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	if err == nil {
		d.record("remove "+name, in, change{name: path.Base(name), inode: id, gone: true})
	}
	return err
}

func (d *simdisk) mkdir(name string) error {
	_, _, in, err := d.find(name)
	if err == nil || in == nil {
		return err
	}
	d.inodes = append(d.inodes, newFolder())
	d.record("mkdir "+name, in, change{name: path.Base(name), inode: len(d.inodes) - 1})
	return nil
}

func (d *simdisk) syncDir(name string) error {
	n, _, _, err := d.find(name)
	if err == nil {
		n.kept, n.pending = maps.Clone(n.names), nil
		d.changed("syncdir "+name, n)
	}
	return err
}

func (d *simdisk) lstat(name string) (fs.FileInfo, error) {
	n, _, _, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

func (d *simdisk) readDir(name string) (list []fs.DirEntry, err error) {
	n, _, _, err := d.find(name)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		list = append(list, fs.FileInfoToDirEntry(d.inodes[n.names[name]].info(name)))
	}
	return list, nil
}

func (d *simdisk) close() error { return nil }

// A simfile is an open file of a simdisk. Every write appends, as each of the store does.
type simfile struct {
	*inode
	disk *simdisk
	name string
}

func (n *inode) data() []byte { return n.versions[len(n.versions)-1] }

// become gives the file another content, which is not durable yet.
func (f *simfile) become(op string, data []byte) {
	f.versions = append(f.versions, data)
	f.disk.changed(op+" "+f.name, f.inode)
}

func (f *simfile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.data())) {
		return 0, io.EOF
	}
	n := copy(p, f.data()[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simfile) Write(p []byte) (int, error) {
	f.become("write", slices.Concat(f.data(), p))
	return len(p), nil
}

func (f *simfile) Truncate(size int64) error {
	f.become("truncate", slices.Concat(f.data(), make([]byte, max(0, size-int64(len(f.data())))))[:size])
	return nil
}

func (f *simfile) datasync() error {
	f.versions = f.versions[len(f.versions)-1:]
	f.disk.changed("datasync "+f.name, f.inode)
	return nil
}

func (f *simfile) Close() error               { return nil }
func (f *simfile) Stat() (fs.FileInfo, error) { return f.info(path.Base(f.name)), nil }

// siminfo is what lstat says.
type siminfo struct {
	name string
	size int64
	mode fs.FileMode
	mod  int64
}

func (n *inode) info(name string) siminfo {
	if n.folder {
		return siminfo{path.Base(name), 0, fs.ModeDir | 0o700, n.mod}
	}
	return siminfo{path.Base(name), int64(len(n.data())), 0o600, n.mod}
}

func (i siminfo) Name() string       { return i.name }
func (i siminfo) Size() int64        { return i.size }
func (i siminfo) Mode() fs.FileMode  { return i.mode }
func (i siminfo) ModTime() time.Time { return time.Unix(i.mod, 0) }
func (i siminfo) IsDir() bool        { return i.mode.IsDir() }
func (i siminfo) Sys() any           { return nil }
