package atomicfiletest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sector is what a disk writes whole or not at all, in bytes.
const sector = 512

// remains are what a power cut may leave of a file, from its durable content, its newest and how long it is: each of a
// kind that all files of a cut may have at once.
var remains = []func(versions [][]byte) []byte{
	func(v [][]byte) []byte { return v[0] },
	func(v [][]byte) []byte { return v[len(v)-1] },
	func(v [][]byte) []byte { // its size, and nothing else of it
		text := make([]byte, len(v[len(v)-1]))
		copy(text, v[0])
		return text
	},
	func(v [][]byte) []byte { // the durable part, and the first half of what came then
		newest := v[len(v)-1]
		from := min(len(v[0]), len(newest))
		return newest[:from+(len(newest)-from)/2]
	},
	func(v [][]byte) []byte { // the first sector that differs has not come
		newest := bytes.Clone(v[len(v)-1])
		for at := 0; at < len(newest); at += sector {
			end := min(at+sector, len(newest))
			if was := part(v[0], at, end); !bytes.Equal(was, newest[at:end]) {
				clear(newest[at:end])
				copy(newest[at:end], was)
				break
			}
		}
		return newest
	},
	func(v [][]byte) []byte { return v[len(v)/2] },
}

func part(data []byte, from, to int) []byte {
	return data[min(from, len(data)):min(to, len(data))]
}

// Cut has judge look at copies of the folder as a power cut may have left it: at each moment that was recorded, with none
// or all of the changes of names that were not durable, in their order, and with the main kinds of remains of files that
// were not synced; and samples of both without order. With full it tries every number of changes, all kinds, and more
// samples. note
// is what was known outside at that moment. Copies that are the same, with the same note, are judged once. It returns how
// many copies were judged, and the first error of judge, with what was left.
func (d *Disk) Cut(t testing.TB, full bool, judge func(dir, note string) error) (cases int, err error) {
	t.Helper()
	draws, kinds := 2, 3
	if full {
		draws, kinds = 100, len(remains)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	known := map[string]bool{}
	for _, m := range d.moments {
		if !full && strings.HasPrefix(m.where, "before write") { // an empty temporary file more than before
			continue
		}
		pending := 0
		for _, c := range m.changes {
			if !c.durable {
				pending++
			}
		}
		try := func(kept func(n int) bool, of func() int) {
			left := m.left(kept, of)
			key := fmt.Sprintf("%s %x", m.note, left.sum())
			if known[key] || err != nil {
				return
			}
			known[key] = true
			cases++
			dir := left.write(t)
			if err = judge(dir, m.note); err != nil {
				err = fmt.Errorf("power cut %s, %s: %w\nleft:\n%s", m.where, m.note, err, left)
			}
			_ = os.RemoveAll(dir)
		}
		for names := range pending + 1 {
			if !full && names != 0 && names != pending {
				continue
			}
			for kind := range kinds {
				try(func(n int) bool { return n < names }, func() int { return kind })
			}
		}
		for range draws {
			try(func(int) bool { return dice.IntN(2) == 0 }, func() int { return dice.IntN(len(remains)) })
		}
	}
	return cases, err
}

// copied is what is left of the folder, by path.
type copied map[string]left

type left struct {
	inode
	id   int
	text []byte
}

// left is the folder with those of the pending changes that kept chooses, and with remains of each file.
func (m moment) left(kept func(n int) bool, of func() int) copied {
	names := map[entry]int{}
	n := 0
	for _, c := range m.changes {
		if !c.durable {
			n++
			if !kept(n - 1) {
				continue
			}
		}
		for i := len(c.names) - 1; i >= 0; i-- { // an inode loses its old name first
			if at := c.names[i]; at.inode >= 0 {
				names[at.entry] = at.inode
			} else {
				delete(names, at.entry)
			}
		}
	}
	text := map[int][]byte{} // of an inode, which may have two names
	all := copied{}
	var walk func(folder int, dir string)
	walk = func(folder int, dir string) {
		for _, at := range sorted(names) {
			if at.folder != folder {
				continue
			}
			id := names[at]
			n, name := m.inodes[id], filepath.Join(dir, at.base)
			if !n.info.IsDir() && text[id] == nil {
				text[id] = n.versions[0]
				if len(n.versions) > 1 {
					text[id] = remains[of()](n.versions)
				}
			}
			all[name] = left{n, id, text[id]}
			if n.info.IsDir() {
				walk(id, name)
			}
		}
	}
	walk(0, ".")
	return all
}

func (c copied) sum() []byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(h, "%q %q\n", name, c[name].text)
	}
	return h.Sum(nil)
}

func (c copied) String() string {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if f := c[name]; !f.info.IsDir() {
			fmt.Fprintf(&b, "%-40s %6d bytes %.100q\n", name, len(f.text), f.text)
		}
	}
	return b.String()
}

// write makes the folder, in memory where the system can.
func (c copied) write(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "ferrus")
	if err != nil {
		dir = t.TempDir()
	}
	first := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		f, path := c[name], filepath.Join(dir, name)
		if at, ok := first[f.id]; ok {
			err = os.Link(at, path)
		} else if first[f.id] = path; f.info.IsDir() {
			err = os.Mkdir(path, 0o700)
		} else if err = os.WriteFile(path, f.text, f.info.Mode().Perm()); err == nil {
			err = os.Chtimes(path, f.info.ModTime(), f.info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
