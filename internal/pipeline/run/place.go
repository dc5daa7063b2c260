// Package run executes the runs of pipelines. Each run is a folder with a status, a journal, its
// workers and their output.
//
// internal/pipeline, which is pure, decides what to do. This package gathers the facts, takes the
// one next action and records it, until nothing is left to do: a tick (tick.go). Nothing of
// importance is in memory: a tick can be killed at any point, and the next one continues from the
// files. Workers run in slots of their own and outlive it.
//
// What makes a kill harmless: a worker has its slot before its start is recorded, so the next tick finds it there. Files that must
// not count are moved away before anything is recorded. A delivery records in its own file that it is being sent, sends, and
// records that it was sent; after a death in between the next tick verifies it, or asks a person.
package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Place has the folders of a project's runs. All paths are absolute.
type Place struct {
	Root    string // the project
	Tmp     string // of active runs
	Archive string // of finished runs
}

// At returns the place of a project's runs.
func At(root string, conf config.Pipelines) Place {
	return Place{root, below(root, conf.TmpDir), below(root, conf.ArchiveDir)}
}

func below(root, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(root, dir)
}

// Settings are the values of ferrus.toml that a run needs. They are recorded at launch, and stay
// until the run has ended.
type Settings struct {
	Root       string         `json:"root"`
	Archive    string         `json:"archive"`
	Executor   config.Agent   `json:"executor"`
	Supervisor config.Agent   `json:"supervisor"`
	Notify     config.Notify  `json:"notify"`
	Deliver    config.Deliver `json:"deliver"`

	// Variant is the agent of all workers that have one, AGENT or AGENT:MODEL; "" for that of the
	// workflow.
	Variant string `json:"variant,omitempty"`
}

// Settings returns the settings of a run that is launched now.
func (p Place) Settings(conf config.Config) Settings {
	return Settings{Root: p.Root, Archive: p.Archive, Executor: conf.HQ.Executor, Supervisor: conf.HQ.Supervisor, Notify: conf.Notify, Deliver: conf.Deliver}
}

// Launch creates the folder of a new run. Its first tick starts the first workers.
func (p Place) Launch(w workflow.Workflow, topic string, s Settings, now time.Time) (*Folder, error) {
	return p.begin(w, s, now, func(f *Folder) (Line, error) {
		return Line{Status: pipeline.New(w, f.Name(), topic, now)}, nil
	})
}

// begin creates the folder of a new run. The first line of its journal is the last that is written:
// without it the folder is no run, and a later call removes it. fill returns that line, and may
// write files that count in the run.
func (p Place) begin(w workflow.Workflow, s Settings, now time.Time, fill func(*Folder) (Line, error)) (*Folder, error) {
	root, tmp, err := in(p.Root, p.Tmp)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, tmp, 0o700); err != nil {
		return nil, err
	}
	atomicfile.Sweep(root, tmp)
	sweep(root, tmp, now)
	name, err := p.reserve(root, tmp, w.Name, now)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: filepath.Join(p.Tmp, name), Workflow: w, Settings: s}
	text, err := w.Encode()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{workersDir, promptsDir, logsDir, keptDir, attemptsDir} {
		if err := root.Mkdir(path.Join(tmp, name, dir), 0o700); err != nil {
			return nil, err
		}
	}
	if err := f.replace(workflowFile, text, 0o444); err != nil { // the journal has it durably, and a tick makes it again
		return nil, err
	}
	l, err := fill(f)
	if err != nil {
		return nil, errors.Join(err, root.RemoveAll(path.Join(tmp, name)))
	}
	l.At, l.Event, l.Workflow, l.Settings = l.Status.CreatedAt, "launch", text, &s
	return f, (&runState{f: f}).commit(l)
}

// abandoned is the age at which a folder without a journal is what a killed launch has left.
const abandoned = time.Hour

// sweep removes what launches that were killed have left in a folder of runs. Of a run whose journal
// somebody has removed there is at least the status.
func sweep(root *rootfs.Root, dir string, now time.Time) {
	entries, _ := root.ReadDir(dir)
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if !e.IsDir() || !runName.MatchString(e.Name()) {
			continue
		}
		if _, err := firstLine(root, path.Join(at, journalFile)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := root.Lstat(path.Join(at, statusFile)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > abandoned {
			_ = root.RemoveAll(at) // the next call tries again
		}
	}
}

// reserve creates the folder of a run under a name that no other run has, including archived ones.
func (p Place) reserve(root *rootfs.Root, tmp, pipe string, now time.Time) (string, error) {
	archive, err := filepath.Rel(p.Root, p.Archive)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for {
		name := pipeline.DirName(pipe, now, func(name string) bool {
			_, err := root.Lstat(path.Join(filepath.ToSlash(archive), name))
			return err == nil || taken[name]
		})
		err := root.Mkdir(path.Join(tmp, name), 0o700)
		if err == nil {
			err = atomicfile.SyncDir(root, tmp)
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		taken[name] = true
	}
}

// Names returns the active runs, the newest last.
func (p Place) Names() ([]string, error) { return p.runsIn(p.Tmp) }

// Archived returns the finished runs, the newest last.
func (p Place) Archived() ([]string, error) { return p.runsIn(p.Archive) }

// runsIn returns the folders of runs, ordered by their start. It ignores a run whose launch was
// interrupted. A missing folder has no runs.
func (p Place) runsIn(folder string) ([]string, error) {
	root, dir, err := in(p.Root, folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := root.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	type run struct {
		name string
		at   time.Time
	}
	var all []run
	for _, e := range entries {
		if !e.IsDir() || !runName.MatchString(e.Name()) {
			continue
		}
		began, err := root.Lstat(path.Join(dir, e.Name(), workflowFile))
		if err != nil {
			continue
		}
		if journal, err := root.Lstat(path.Join(dir, e.Name(), journalFile)); err == nil && journal.Size() > 0 {
			all = append(all, run{e.Name(), began.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b run) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, r := range all {
		names = append(names, r.name)
	}
	return names, nil
}

// Open opens the run of that name, active or finished; "" is the only active one. The error lists
// the names.
func (p Place) Open(name string) (*Folder, error) {
	names, err := p.Names()
	if err != nil {
		return nil, err
	}
	if name == "" {
		switch len(names) {
		case 0:
			return nil, fmt.Errorf("no pipeline is running: %w", fs.ErrNotExist)
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("several pipelines are running; name one of %s", strings.Join(names, ", "))
		}
	}
	if base := filepath.Base(filepath.Clean(name)); strings.ContainsAny(name, `/\`) {
		name = base // a path to the folder works, too
	}
	for _, dir := range []string{p.Tmp, p.Archive} {
		if f, err := open(p.Root, filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("there is no run %q; active runs: %s: %w", name, cmp.Or(strings.Join(names, ", "), "none"), fs.ErrNotExist)
}
