package records

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
)

// A source is a folder with records.
type source struct {
	root   *rootfs.Root
	dir    string // below root
	key    string // names it in the index: its path, also while its branch is being removed
	branch string
	run    string // of a pipeline; "" for the records of tasks, each named after its task
	only   string // the one record that is read; "" for all
	slot   func(agents.Duty) process.Slot
}

// slack is how much older than its last line the time of a file may be.
const slack = 2 * time.Second

// project reads all records that this computer has of a project.
func (s *scan) project(root string) error {
	kept, err := s.kept()
	if err != nil {
		return err
	}
	machines := []source{s.machine(".")}
	for _, of := range []struct {
		dir     string
		removed bool
	}{{"branches", false}, {project.ArchivedBranches, true}} {
		names, err := project.FoldersIn(s.home, of.dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if m := s.machine(path.Join(of.dir, name)); strings.Contains(m.key, "@") == of.removed && !strings.HasPrefix(m.branch, ".") { // a draft
				machines = append(machines, m)
			}
		}
	}
	for _, m := range machines {
		if err := s.source(m, kept); err != nil {
			return err
		}
	}
	for _, runs := range kept {
		s.add(runs...)
	}
	return s.pipelines(root)
}

// machine is the source of a machine, by its folder below .ferrus. That of a branch, which may be removed, has its name.
func (s *scan) machine(dir string) source {
	at, name := path.Split(dir)
	name = strings.TrimPrefix(name, project.RemovingPrefix)
	branch, _, _ := strings.Cut(strings.TrimSuffix(name, "."), "@")
	return source{root: s.home, dir: path.Join(dir, "runs"), branch: branch, key: path.Join(at, name, "runs"),
		slot: func(d agents.Duty) process.Slot { return process.Path(s.home.Join(dir), branch, string(d)) }}
}

// pipelines reads the records of the runs of pipelines. A project without a valid ferrus.toml has them where it has them by default.
func (s *scan) pipelines(root string) error {
	conf, err := config.Load(filepath.Join(root, config.FileName))
	if err != nil {
		conf = config.Default()
	}
	top, err := rootfs.Open(root)
	if err != nil {
		return err
	}
	defer top.Close()
	seen := map[string]bool{} // a run that is moved to another disk is in both for a while
	for _, dir := range []string{conf.Pipelines.ArchiveDir, conf.Pipelines.TmpDir} {
		dir = path.Clean(filepath.ToSlash(dir))
		names, err := project.FoldersIn(top, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if seen[name] || strings.HasPrefix(name, ".") {
				continue
			}
			seen[name] = true
			at := path.Join(dir, name, "workers")
			err := s.source(source{root: top, dir: at, key: "//" + at, run: name, slot: func(d agents.Duty) process.Slot { return process.Slot(top.Join(path.Join(at, string(d)+".lock"))) }}, nil)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// source reads the records in a folder. What stands there too of the runs that were kept is taken out of them.
func (s *scan) source(from source, kept map[string][]Run) error {
	entries, err := from.root.ReadDir(from.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		task, ours := strings.CutSuffix(e.Name(), ".jsonl")
		info, err := e.Info()
		if !ours || from.only != "" && e.Name() != from.only || err != nil || !info.Mode().IsRegular() || info.ModTime().Before(s.Since.Add(-slack)) {
			continue // none of ours, or it has just gone
		}
		if from.run != "" {
			task = from.run
		}
		if err := s.file(from, e.Name(), info, task, kept); err != nil {
			return err
		}
	}
	return err
}

// file reads a record.
func (s *scan) file(from source, name string, info fs.FileInfo, task string, kept map[string][]Run) error {
	var records []process.Run
	at := from.root.Join(path.Join(from.dir, name))
	var failed error
	read := func() string {
		if records, failed = process.Runs(at); failed != nil {
			return ""
		}
		return encode(runsOf(from.branch, task, records))
	}
	var runs []Run
	key := from.key + "/" + name
	err := s.index.Use(key, fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()), read, func(text string) (err error) {
		runs, err = decode(from.branch, task, text)
		return errors.Join(failed, err)
	})
	if err != nil {
		return err
	}
	for i, r := range runs {
		if r.over {
			continue
		}
		if records == nil { // the index has said it
			if records, err = process.Runs(at); err != nil {
				return err
			}
		}
		for _, record := range records {
			if record.Name == r.Name {
				runs[i] = s.unended(r, record, from.slot(record.Duty))
			}
		}
	}
	s.add(runs...)
	if len(kept[key]) > 0 {
		kept[key] = without(kept[key], runs)
	}
	return nil
}

// runsOf are the runs of a record.
func runsOf(branch, task string, records []process.Run) (runs []Run) {
	for _, r := range records {
		if is, began := of(branch, task, r); began {
			runs = append(runs, is)
		}
	}
	return runs
}
