package file

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A fault is what happens at one operation of a faulty disk.
type fault string

const (
	none     fault = "none"
	eio      fault = "eio"      // this operation fails
	enospc   fault = "enospc"   // this operation finds no space
	short    fault = "short"    // this write is cut in half
	full     fault = "full"     // no space from here on
	broken   fault = "broken"   // every operation fails from here on
	crash    fault = "crash"    // the process is killed here; the system keeps what it wrote
	powercut fault = "powercut" // the machine stops here; what the journal has not synced is lost
	halfsync fault = "halfsync" // this sync fails and yet was done; later, the machine stops
)

// faults is the disk's plan, and its record of what was done.
type faults struct {
	kind fault
	at   int // the number of the operation that is hit, from 1
	ops  []string
	dead bool

	under *simdisk

	lies map[string]bool // operations that do nothing and say that they did
}

// makesRoom are the operations that a full disk refuses.
var makesRoom = map[string]bool{"create": true, "write": true, "mkdir": true, "rename": true, "exchange": true, "datasync": true}

// strikes reports whether the fault makes a difference at an operation; "end" is after the last.
func (k fault) strikes(op string) bool {
	switch k {
	case short:
		return op == "write"
	case halfsync:
		return op == "datasync"
	case enospc, full:
		return makesRoom[op]
	}
	return op != "end" || k == powercut
}

// op counts one operation and says what becomes of it.
func (f *faults) op(name string) error {
	f.ops = append(f.ops, name)
	n := len(f.ops)
	if n == f.at && (f.kind == crash || f.kind == powercut) {
		f.die()
	}
	switch {
	case f.dead, f.kind == broken && n >= f.at, f.kind == eio && n == f.at:
		return syscall.EIO
	case f.kind == enospc && n == f.at && makesRoom[name], f.kind == full && n >= f.at && makesRoom[name]:
		return syscall.ENOSPC
	}
	return nil
}

// die ends the process or the machine.
func (f *faults) die() {
	f.dead = true
	if n, _, _, err := f.under.find(journalFile); err == nil && (f.kind == powercut || f.kind == halfsync) {
		n.versions = n.versions[:1]
	}
}

// over returns the disk under these faults.
func (f *faults) over(string) (disk, error) { return faulty{f.under, f}, nil }

type faulty struct {
	disk
	f *faults
}

func (d faulty) open(name string, flag int) (file, error) {
	op := "open"
	if flag&os.O_CREATE != 0 {
		op = "create"
	}
	if err := d.f.op(op); err != nil {
		return nil, err
	}
	under, err := d.disk.open(name, flag)
	if err != nil {
		return nil, err
	}
	return &faultyFile{under, d.f}, nil
}

func (d faulty) rename(from, to string) error {
	if err := d.f.op("rename"); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d faulty) exchange(a, b string) error {
	if err := d.f.op("exchange"); err != nil {
		return err
	}
	return d.disk.exchange(a, b)
}

func (d faulty) remove(name string) error {
	if err := d.f.op("remove"); err != nil {
		return err
	}
	return d.disk.remove(name)
}

func (d faulty) lstat(name string) (fs.FileInfo, error) {
	if err := d.f.op("lstat"); err != nil {
		return nil, err
	}
	return d.disk.lstat(name)
}

func (d faulty) mkdir(name string) error {
	if err := d.f.op("mkdir"); err != nil {
		return err
	}
	return d.disk.mkdir(name)
}

func (d faulty) syncDir(name string) error {
	if err := d.f.op("syncdir"); err != nil {
		return err
	}
	return d.disk.syncDir(name)
}

func (d faulty) readDir(name string) ([]fs.DirEntry, error) {
	if err := d.f.op("readdir"); err != nil {
		return nil, err
	}
	return d.disk.readDir(name)
}

type faultyFile struct {
	file
	f *faults
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.f.op("read"); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, off)
}

func (f *faultyFile) Write(p []byte) (int, error) {
	err := f.f.op("write")
	if f.f.kind == short && len(f.f.ops) == f.f.at {
		err = io.ErrShortWrite
	}
	if err != nil && (f.f.dead || f.f.kind == broken) {
		return 0, err
	}
	if err != nil { // a write that fails may have written something
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.f.op("stat"); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.f.op("truncate"); err != nil {
		return err
	}
	if f.f.lies["truncate"] {
		return nil
	}
	return f.file.Truncate(size)
}

func (f *faultyFile) Close() error {
	err := f.f.op("close")
	if closed := f.file.Close(); err == nil {
		err = closed
	}
	return err
}

func (f *faultyFile) datasync() error {
	if err := f.f.op("datasync"); err != nil {
		return err
	}
	if f.f.lies["datasync"] {
		return nil
	}
	err := f.file.datasync()
	if f.f.kind == halfsync && len(f.f.ops) == f.f.at {
		return syscall.EIO
	}
	return err
}
