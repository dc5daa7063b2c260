package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheSimulatedDiskIsLikeARealOne does everything on a real disk as well: the same operations must be asked of it,
// and leave the same files.
func TestTheSimulatedDiskIsLikeARealOne(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios() {
		dir := filepath.Join(quick(t), ".ferrus")
		_, sim := along(t, sc, dir)
		sc.edit(sim)
		s := must2(Create(filepath.Join(quick(t), ".ferrus"), still()))
		do(t, s, sc.road...)
		for name, edited := range sc.edited {
			if edited == "" {
				must(0, os.Remove(s.Path(name)))
				continue
			}
			write(t, s.Path(name), edited)
		}
		s.Close()

		onSim, onReal := &faults{under: sim}, &faults{}
		opts := still()
		opts.disk = onSim.over
		must(sc.act(must(Open(dir, opts))))
		opts.disk = func(dir string) (disk, error) {
			d, err := openDisk(dir)
			return faulty{d, onReal}, err
		}
		must(sc.act(must(Open(s.dir, opts))))
		if diff := cmp.Diff(onReal.ops, onSim.ops); diff != "" {
			t.Errorf("%s: operations on a real disk (-) and a simulated one (+):\n%s", sc.name, diff)
		}
		left := folder{}
		for name, n := range sim.inodes[0].names {
			if !sim.inodes[n].folder {
				left[name] = sim.peek(name)
			}
		}
		left[lockFile] = ""
		if diff := cmp.Diff(pack(t, s.dir), left); diff != "" {
			t.Errorf("%s: files on a real disk (-) and a simulated one (+):\n%s", sc.name, diff)
		}
	}
}

// TestTheSimulatedDiskRefusesWhatARealOneDoes asks both for what cannot be.
func TestTheSimulatedDiskRefusesWhatARealOneDoes(t *testing.T) {
	t.Parallel()
	dir := quick(t)
	real, sim := must(openDisk(dir)), newSimdisk(t, filepath.Join(quick(t), "lock"))
	defer real.close()
	for _, try := range []struct {
		what string
		do   func(d disk) error
	}{
		{"mkdir", func(d disk) error { return d.mkdir("a") }},
		{"mkdir again", func(d disk) error { return d.mkdir("a") }},
		{"mkdir in none", func(d disk) error { return d.mkdir("none/b") }},
		{"open none", func(d disk) error { return opened(d.open("none", os.O_RDONLY)) }},
		{"create in none", func(d disk) error { return opened(d.open("none/f", os.O_RDWR|os.O_CREATE)) }},
		{"create", func(d disk) error { return opened(d.open("a/f", os.O_WRONLY|os.O_CREATE|os.O_EXCL)) }},
		{"create what is there", func(d disk) error { return opened(d.open("a/f", os.O_WRONLY|os.O_CREATE|os.O_EXCL)) }},
		{"remove a folder with a file", func(d disk) error { return d.remove("a") }},
		{"rename", func(d disk) error { return d.rename("a/f", "a/g") }},
		{"create another", func(d disk) error { return opened(d.open("f", os.O_WRONLY|os.O_CREATE|os.O_EXCL)) }},
		{"exchange with none", func(d disk) error { return d.exchange("f", "g") }},
		{"exchange none", func(d disk) error { return d.exchange("g", "f") }},
		{"exchange in a folder below", func(d disk) error { return d.exchange("a/g", "f") }},
		{"remove another", func(d disk) error { return d.remove("f") }},
		{"rename none", func(d disk) error { return d.rename("a/f", "a/g") }},
		{"remove none", func(d disk) error { return d.remove("a/f") }},
		{"look at none", func(d disk) error { _, err := d.lstat("a/f"); return err }},
		{"list none", func(d disk) error { _, err := d.readDir("none"); return err }},
		{"sync none", func(d disk) error { return d.syncDir("none") }},
		{"sync", func(d disk) error { return d.syncDir("a") }},
		{"remove", func(d disk) error { return d.remove("a/g") }},
		{"remove an empty folder", func(d disk) error { return d.remove("a") }},
	} {
		a, b := try.do(real), try.do(sim)
		same := func(kind error) bool { return errors.Is(a, kind) == errors.Is(b, kind) }
		if (a == nil) != (b == nil) || !same(fs.ErrNotExist) || !same(fs.ErrExist) {
			t.Errorf("%s: a real disk says %v, a simulated one %v", try.what, a, b)
		}
		if a, b := names(real, "."), names(sim, "."); !slices.Equal(a, b) {
			t.Errorf("%s: a real disk has %v, a simulated one %v", try.what, a, b)
		}
	}
}

func opened(f file, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}

// names are the names under a folder of a disk, and what is in the folders there.
func names(d disk, dir string) (list []string) {
	for _, e := range must(d.readDir(dir)) {
		list = append(list, e.Name())
		if e.IsDir() {
			list = append(list, names(d, e.Name())...)
		}
	}
	slices.Sort(list)
	return list
}
