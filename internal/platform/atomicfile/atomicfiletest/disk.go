// Package atomicfiletest simulates power cuts and failing disks, for tests of files that must
// survive them.
//
// A [Disk] records the changes of a folder: it reads the folder before each operation of package
// atomicfile. Content that was not synced by then is not durable, whichever program or package
// wrote it. The simulation grants no more than POSIX promises: a sync of a file saves its content
// but not its name, a sync of a folder saves names but not the content of the files.
package atomicfiletest

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
)

// A Disk is the record of a folder.
type Disk struct {
	dir  string
	fail func(n int) error // nil for none
	note func() string

	mu      sync.Mutex
	ops     int
	inodes  []*inode
	live    map[entry]int  // inodes as they were seen last
	paths   map[string]int // the same, by path
	changes []change       // of names, oldest first
	moments []moment
}

// An inode is a file or a folder, whatever its name.
type inode struct {
	info     fs.FileInfo // as it was seen last
	versions [][]byte    // of a file: the durable content, then one for each change since
}

// A change is one operation on names. It survives whole or not at all.
type change struct {
	names   []naming
	durable bool
}

// An entry is a name in a folder.
type entry struct {
	folder int // its inode
	base   string
}

// A naming gives an entry another inode, or none, which is -1.
type naming struct {
	entry
	inode int
}

// A moment is what a power cut would have found.
type moment struct {
	where   string
	note    string
	inodes  []inode
	changes []change
}

var (
	once  sync.Once
	mu    sync.Mutex
	disks = map[*Disk]bool{} // that record now
)

// dispatch finds the disk of an operation.
func dispatch(op, path string) error {
	mu.Lock()
	var on *Disk
	for d := range disks {
		if path == d.dir || strings.HasPrefix(path, d.dir+string(filepath.Separator)) {
			on = d
		}
	}
	mu.Unlock()
	if on == nil {
		return nil
	}
	return on.step(op, path)
}

// Record records what act does to the folder dir, all of which is durable when it begins. note says, at each moment, what
// is known outside of the folder: what was acknowledged, what was sent. It may be nil.
func Record(t testing.TB, dir string, note func() string, act func()) *Disk {
	t.Helper()
	return record(t, dir, note, nil, act)
}

// Fail has operation number n of act, counted from 1, fail with err, and those after it too if all is set. It reports
// whether there was such an operation.
func Fail(t testing.TB, dir string, n int, all bool, err error, act func()) bool {
	t.Helper()
	return record(t, dir, nil, func(at int) error {
		if at == n || all && at > n {
			return err
		}
		return nil
	}, act).ops >= n
}

func record(t testing.TB, dir string, note func() string, fail func(n int) error, act func()) *Disk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if note == nil {
		note = func() string { return "" }
	}
	d := &Disk{dir: dir, note: note, fail: fail, live: map[entry]int{}}
	d.look()
	for i := range d.changes {
		d.changes[i].durable = true
	}
	for _, n := range d.inodes {
		n.settle()
	}
	once.Do(func() { atomicfile.Intercept(dispatch) })
	mu.Lock()
	disks[d] = true
	mu.Unlock()
	func() {
		defer func() {
			mu.Lock()
			delete(disks, d)
			mu.Unlock()
		}()
		act()
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remember("at the end")
	return d
}

// step looks at the folder, before an operation.
func (d *Disk) step(op, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops++
	if d.fail != nil {
		return d.fail(d.ops)
	}
	name, _ := filepath.Rel(d.dir, path)
	d.remember("before " + op + " " + name)
	if op == "sync" { // nothing happens between this and the sync
		d.synced(name)
	}
	return nil
}

// remember adds a moment.
func (d *Disk) remember(where string) {
	d.look()
	m := moment{where: where, note: d.note(), changes: slices.Clone(d.changes)}
	for _, n := range d.inodes {
		m.inodes = append(m.inodes, inode{n.info, slices.Clone(n.versions)})
	}
	d.moments = append(d.moments, m)
}

// synced makes a file's content durable, or the names in a folder.
func (d *Disk) synced(name string) {
	id, ok := d.paths[name]
	switch {
	case !ok:
	case d.inodes[id].info.IsDir():
		for i, c := range d.changes {
			if slices.ContainsFunc(c.names, func(n naming) bool { return n.folder == id }) {
				d.changes[i].durable = true
			}
		}
	default:
		d.inodes[id].settle()
	}
}

func (n *inode) settle()      { n.versions = n.versions[max(0, len(n.versions)-1):] }
func (n *inode) text() string { return string(n.versions[len(n.versions)-1]) }

// look finds what has changed in the folder since it was last looked at. What is neither file nor folder is left out.
func (d *Disk) look() {
	if len(d.inodes) == 0 {
		info, err := os.Lstat(d.dir)
		if err != nil {
			panic(err)
		}
		d.inodes = append(d.inodes, &inode{info: info})
	}
	now := map[entry]int{}
	d.paths = map[string]int{".": 0}
	d.walk(0, ".", now)
	moved := map[int]entry{} // the names that inodes have lost
	for at, id := range d.live {
		if is, ok := now[at]; !ok || is != id {
			moved[id] = at
		}
	}
	for _, at := range sorted(now) {
		id := now[at]
		if was, ok := d.live[at]; ok && was == id {
			continue
		}
		c := change{names: []naming{{at, id}}}
		if from, ok := moved[id]; ok {
			if _, taken := now[from]; !taken {
				c.names = append(c.names, naming{from, -1})
				delete(moved, id)
			}
		}
		d.changes = append(d.changes, c)
	}
	for _, at := range sorted(d.live) {
		if _, ok := now[at]; !ok && moved[d.live[at]] == at {
			d.changes = append(d.changes, change{names: []naming{{at, -1}}})
		}
	}
	d.live = now
}

func (d *Disk) walk(folder int, dir string, now map[entry]int) {
	list, _ := os.ReadDir(filepath.Join(d.dir, dir)) // it may have gone away meanwhile
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		at, name := entry{folder, e.Name()}, filepath.Join(dir, e.Name())
		var text []byte
		if !e.IsDir() {
			if text, err = os.ReadFile(filepath.Join(d.dir, name)); err != nil {
				continue
			}
		}
		id := d.known(at, info, text)
		now[at], d.paths[name] = id, id
		if e.IsDir() {
			d.walk(id, name, now)
		}
	}
}

func sorted(names map[entry]int) []entry {
	return slices.SortedFunc(maps.Keys(names), func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.base, b.base))
	})
}

// known returns the inode of a name, which is a new one unless it was seen before: under this name, or under another with
// the same content, since a file system gives the number of a removed file to a new one.
func (d *Disk) known(at entry, info fs.FileInfo, text []byte) int {
	id := -1
	for was, i := range d.live {
		n := d.inodes[i]
		if n.info.IsDir() == info.IsDir() && os.SameFile(n.info, info) && (was == at || info.IsDir() || string(text) == n.text()) {
			id = i
		}
	}
	if id < 0 {
		d.inodes = append(d.inodes, &inode{versions: [][]byte{nil}})
		id = len(d.inodes) - 1
	}
	n := d.inodes[id]
	if n.info = info; !info.IsDir() && string(text) != n.text() {
		n.versions = append(n.versions, text)
	}
	return id
}
