package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// runName matches the name of a run: the name of its pipeline, the time of day, and a number if
// that name was in use.
var runName = safetext.NewForm(`^[0-9A-Za-z_][0-9A-Za-z_-]{0,63}-[0-9]{6}(-[0-9]{1,9}){0,2}$`, 8, 91)

const (
	maxWord    = 1 << 10  // of a name, in bytes
	maxCommand = 64 << 10 // of a command or a path, in bytes
)

// Open opens the folder of a run. The error is fs.ErrNotExist if dir is not a run. The project is
// the one that contains the folder, whatever the run's journal says.
func Open(dir string) (*Folder, error) { return open("", dir) }

// open opens the folder of a run of a project; "" finds the project by the folder.
func open(project, dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if name := filepath.Base(dir); !runName.MatchString(name) {
		return nil, fmt.Errorf("%.100q is not the name of a run: %w", name, fs.ErrNotExist)
	}
	if project == "" {
		project = projectOf(dir)
	}
	root, name, err := in(project, dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	line, err := firstLine(root, path.Join(name, journalFile))
	if err != nil {
		return nil, fmt.Errorf("%s is not a run of a pipeline: %w", dir, err)
	}
	journal := filepath.Join(dir, journalFile)
	if line.Settings == nil {
		return nil, fmt.Errorf("%s does not begin with a launch", journal)
	}
	f := &Folder{Dir: dir, Settings: *line.Settings}
	if err := f.Settings.check(); err != nil {
		return nil, fmt.Errorf("%s: settings of the launch: %v", journal, err)
	}
	// The project may have been moved, and a journal from elsewhere may name any folder.
	archive, _ := filepath.Rel(f.Settings.Root, f.Settings.Archive)
	f.Settings.Root, f.Settings.Archive = project, filepath.Join(project, archive)
	all, err := workflow.Parse(line.Workflow)
	if err != nil || len(all) != 1 {
		return nil, fmt.Errorf("%s: the workflow of the launch: %v", journal, err)
	}
	f.Workflow, f.Origin = all[0], line.Rerun
	if err := f.Origin.check(f.Workflow); err != nil {
		return nil, fmt.Errorf("%s: the run that the launch takes up: %v", journal, err)
	}
	return f, nil
}

// projectOf finds the project that contains a folder: the one of its .ferrus folder, otherwise the
// nearest one above with a .ferrus folder, otherwise the folder two levels above.
func projectOf(dir string) string {
	if home, _ := rootfs.Split(filepath.Join(dir, journalFile)); filepath.Base(home) == stateDir {
		return filepath.Dir(home)
	}
	for at := filepath.Dir(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, stateDir)); err == nil && info.IsDir() {
			return at
		}
	}
	return filepath.Dir(filepath.Dir(dir))
}

// stateDir is the folder of a project for ferrus's own files.
const stateDir = ".ferrus"

// check returns an error for a setting that a launch does not write.
func (s Settings) check() error {
	archive, err := filepath.Rel(s.Root, s.Archive)
	switch {
	case !filepath.IsAbs(s.Root) || len(s.Root) > maxCommand:
		return errors.New("root is not an absolute path")
	case err != nil, !filepath.IsLocal(archive), archive == ".":
		return errors.New("archive is not a folder below root")
	case !slices.Contains([]string{config.ToStdout, config.ToFile, config.ToCommand}, s.Deliver.To):
		return fmt.Errorf("deliver.to, %.40q, is unknown", s.Deliver.To)
	case s.Deliver.TimeoutSecs < 0:
		return errors.New("deliver.timeout_secs is negative")
	}
	for field, text := range map[string]string{"deliver.file": s.Deliver.File, "deliver.command": s.Deliver.Command, "notify.command": s.Notify.Command,
		"executor.command": s.Executor.Command, "supervisor.command": s.Supervisor.Command} {
		if len(text) > maxCommand || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%s is too long, or has a zero byte in it", field)
		}
	}
	for field, who := range map[string]config.Agent{"executor": s.Executor, "supervisor": s.Supervisor} {
		for _, text := range append([]string{who.Agent, who.Model}, who.Args...) {
			if len(text) > maxWord || strings.ContainsRune(text, 0) {
				return fmt.Errorf("%s has an agent, a model or an argument that is too long, or has a zero byte in it", field)
			}
		}
	}
	return nil
}
