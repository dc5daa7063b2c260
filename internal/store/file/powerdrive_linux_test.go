package file

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A drive is a file system in a file.
type drive struct {
	t          *testing.T
	image, dir string
	option     string // of the mount
}

func newDrive(t *testing.T) *drive {
	for _, tool := range []string{"mkfs.ext4", "mount", "umount"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Println("SKIP: cutting the power needs " + tool)
			t.SkipNow()
		}
	}
	base := quick(t)
	d := &drive{t: t, image: filepath.Join(base, "image"), dir: filepath.Join(base, "disk")}
	must(0, os.Mkdir(d.dir, 0o700))
	t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) }) // and the loop device goes with it
	d.format(0)
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		fmt.Printf("SKIP: cutting the power needs a loop device: %s\n", bytes.TrimSpace(out))
		t.SkipNow()
	}
	if err := d.cut(); err != nil {
		fmt.Println("SKIP: cutting the power needs an ext4 that can be shut down:", err)
		t.SkipNow()
	}
	d.unmount()
	return d
}

// format makes the file system anew. Every other one does not hide a missing sync behind a rename.
func (d *drive) format(n int) {
	f := must(os.Create(d.image))
	must(0, f.Truncate(64<<20))
	f.Close()
	d.command("mkfs.ext4", "-q", "-F", d.image)
	d.option = []string{"loop,noauto_da_alloc", "loop"}[n/5%2]
}

func (d *drive) mount()   { d.command("mount", "-o", d.option, d.image, d.dir) }
func (d *drive) unmount() { d.command("umount", d.dir) }

func (d *drive) command(args ...string) {
	d.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// What ext4 gets: end now, and write nothing more, the file system's own log neither.
const (
	shutdown   = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush = 2
)

func (d *drive) cut() error {
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noLogFlush)
}
