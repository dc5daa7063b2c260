package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// maxFile bounds every file of a run that is read, in bytes. A larger file is not an output.
const maxFile = 256 << 20

// errElsewhere is wrapped by the error of a path outside of the project.
var errElsewhere = errors.New("is not in the project")

// in opens the project, through which all files of its runs are opened, and returns the name in it
// of an absolute path. No link below the project is followed.
func in(project, file string) (*rootfs.Root, string, error) {
	name, err := filepath.Rel(project, file)
	if err != nil || !filepath.IsLocal(name) {
		return nil, "", fmt.Errorf("%s %w %s", file, errElsewhere, project)
	}
	root, err := rootfs.Open(project)
	return root, filepath.ToSlash(name), err
}

// in opens the project and returns the name of a file of the run in it.
func (f *Folder) in(name ...string) (*rootfs.Root, string, error) {
	return in(f.Settings.Root, f.Path(name...))
}

// checked returns the path of a file of the run, after verifying that no part of it is a link, and
// that the file, if it exists, is a regular one.
func (f *Folder) checked(name ...string) (string, error) {
	root, at, err := f.in(name...)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return root.Path(at)
}

// hold takes the lock of a file of the run.
func (f *Folder) hold(name ...string) (*filelock.Lock, error) {
	path, err := f.checked(name...)
	if err != nil {
		return nil, err
	}
	return filelock.Take(path)
}

// held reports whether the lock of a file of the run is held.
func (f *Folder) held(name ...string) bool {
	path, err := f.checked(name...)
	if err != nil {
		return false
	}
	held, _ := filelock.Held(path)
	return held
}

// replace replaces a file of the run in one step. A power cut may undo or damage it, so it is for
// files that can be generated again.
func (f *Folder) replace(name string, data []byte, mode fs.FileMode) error {
	root, at, err := f.in(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(at, data, mode)
}

// durably is replace for files that must survive a power cut.
func (f *Folder) durably(name string, data []byte, mode fs.FileMode) error {
	root, at, err := f.in(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return atomicfile.Replace(root, at, data, mode)
}

// slurp reads a regular file of the run. Links, pipes and folders are errors. Nil without an error
// means that there is no file.
func (f *Folder) slurp(name ...string) ([]byte, error) {
	root, at, err := f.in(name...)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := root.ReadFile(at, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// remove removes a file of the run. The error is fs.ErrNotExist if there is none.
func (f *Folder) remove(name string) error {
	root, at, err := f.in(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Remove(at)
}

// lstat describes a file of the run, or its folder.
func (f *Folder) lstat(name ...string) (fs.FileInfo, error) {
	root, at, err := f.in(name...)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Lstat(at)
}

// Written returns the size of an output, and whether it exists as a regular file.
func (f *Folder) Written(output string) (size int64, there bool) {
	info, err := f.lstat(output)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// Result returns the path of the result of a delivered run, or of the final worker's output if an
// older ferrus has created no such file; "" when neither exists.
func (f *Folder) Result() string {
	_, output := f.Workflow.Final()
	for _, name := range []string{finalFile, output} {
		if _, there := f.Written(name); there {
			return f.Path(name)
		}
	}
	return ""
}

// Dialogue returns the present dialogue of the run, nil when there is none.
func (f *Folder) Dialogue() ([]byte, error) { return f.slurp(pipeline.DialogueFile) }
