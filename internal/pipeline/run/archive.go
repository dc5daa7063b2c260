package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// archive moves the folder to the archive. Sent results stay sent whatever happens: a later tick
// tries again.
func (b *runState) archive(ctx context.Context, l Line) error {
	f := b.f
	d, err := f.delivery()
	if err != nil {
		return err
	}
	if by(d) && d.State == pipeline.Delivered && d.Target == config.ToStdout && !f.printed() {
		text, err := f.slurp(finalFile)
		if err == nil {
			err = f.target().print(ctx, f, b.o, text)
		}
		if err != nil {
			return err
		}
		if err := f.replace(printedFile, nil, 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{toldLock, deliveryLock} { // nobody is telling or delivering any more when the folder moves
		lock, err := f.take(ctx, name)
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	f.spread(ctx, b.o)
	root, from, err := f.in()
	if err != nil {
		return err
	}
	defer root.Close()
	into, err := filepath.Rel(f.Settings.Root, f.Settings.Archive)
	if err != nil {
		return err
	}
	into = filepath.ToSlash(into)
	if err := atomicfile.MkdirAll(root, into, 0o700); err != nil {
		return err
	}
	// In the archive no tick restores it from the journal. The sync of the folder covers all names
	// in it.
	if err := b.writeStatus(f.durably); err != nil {
		return err
	}
	b.o.at("begun move")
	to, err := b.o.Mover.Move(root, from, into, f.Name(), same)
	if err != nil {
		return fmt.Errorf("archive %s: %v", f.Name(), err)
	}
	f.Dir = root.Join(to)
	b.o.at("after move")
	if b.o.Report != nil {
		l.Why, l.Status = f.Dir, b.status
		b.o.Report(l)
	}
	return nil
}

// archived reports whether the run is in the archive. Then it has ended, whatever happens to its
// files.
func (f *Folder) archived() bool {
	archive, err := os.Lstat(f.Settings.Archive)
	above, err2 := os.Lstat(filepath.Dir(f.Dir))
	return err == nil && err2 == nil && os.SameFile(archive, above)
}

// printedFile says that a result that its worker has delivered was printed.
const printedFile = "printed"

func (f *Folder) printed() bool {
	_, err := f.lstat(printedFile)
	return err == nil
}

// same reports whether two folders belong to one run.
func same(root *rootfs.Root, a, b string) bool {
	var at [2]Line
	for i, dir := range []string{a, b} {
		var err error
		if at[i], err = firstLine(root, path.Join(dir, journalFile)); err != nil {
			return false
		}
	}
	one, err := json.Marshal(at[0])
	other, err2 := json.Marshal(at[1])
	return err == nil && err2 == nil && string(one) == string(other)
}
