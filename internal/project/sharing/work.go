package sharing

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// moveLock is the lock of those who move a project, or join it to another one: one at a time in a folder.
const moveLock = "live/move.lock"

// alone takes it.
func alone(main project.Place) (*filelock.Lock, error) {
	lock, err := main.Lock(moveLock)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, &refusal.RefusedError{Code: refusal.LockBusy, Message: "another process moves the project of " + main.Root, Person: true, Remedy: "try again when it has ended"}
	}
	return lock, err
}

// locks say what has a lock of a machine, by the beginning of the file's name, and what ends it. Others are sessions.
var locks = []struct {
	begins string
	kind   postgres.Kind
}{
	{"hq.", postgres.Conductor},
	{"agent-", postgres.Agent},
	{"check", postgres.Kind{What: "a check", End: "ferrus stop{branch}, or end the command ferrus check{branch}"}},
	{"setup", postgres.Kind{What: "the set-up of a work tree", End: byItself}},
	{"merge.", postgres.Kind{What: "a merge", End: byItself}},
	{"delegates.", postgres.Kind{What: "a decision about a delegate", End: byItself}},
}

// Work that has no lock in the folder of a machine, or whose lock is that of a session.
var (
	server   = postgres.Kind{What: "the server of an agent", End: "end the client of the agent"}
	fleet    = postgres.Kind{What: "a run with --parallel, or a node", End: "ferrus stop{branch}"}
	making   = postgres.Kind{What: "what makes the branch NAME", End: byItself}
	pipeline = postgres.Kind{What: "the pipeline run NAME", End: "ferrus pipeline cancel NAME"}
)

// byItself is what to do about work that ends by itself.
const byItself = "wait until it has ended"

// claimants returns who has claimed the tasks of machines in files, by their sessions.
func claimants(places []project.Place) map[string]string {
	by := map[string]string{}
	for _, p := range places {
		m, err := p.OpenFiles(project.StoreOptions{ReadOnly: true})
		if err != nil {
			continue // to freeze it says why
		}
		if now, err := m.View(); err == nil && now.Task.ClaimedBy != "" {
			by[now.Task.Session] = now.Task.ClaimedBy
		}
		m.Close()
	}
	return by
}

// here returns what is at work on the machines of places on this computer, by the locks of their folders, and the pipelines that run. claimants are those
// sessions that have claimed a task.
func here(places []project.Place, claimants map[string]string) ([]postgres.Work, error) {
	host, _ := os.Hostname()
	var all []postgres.Work
	add := func(w postgres.Work) {
		w.Host, w.Here = host, true
		all = append(all, w)
	}
	for _, p := range places {
		names, err := held(filepath.Join(p.Dir(), live.Dir))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if kind, who := kindOf(name, claimants); kind != (postgres.Kind{}) {
				add(postgres.Work{Branch: p.Branch}.As(kind, who))
			}
		}
	}
	main := project.At(places[0].Root, "")
	parallel, err := held(filepath.Join(main.Dir(), "parallel", live.Dir))
	if err != nil {
		return nil, err
	}
	if len(parallel) > 0 {
		add(postgres.Work{}.As(fleet, ""))
	}
	branches, err := held(main.Path("branches"))
	if err != nil {
		return nil, err
	}
	for _, name := range branches {
		add(postgres.Work{}.As(making, strings.Trim(strings.TrimSuffix(name, ".lock"), ".")))
	}
	runs, err := pipelines(main)
	for _, run := range runs {
		add(postgres.Work{}.As(pipeline, run))
	}
	return all, err
}

// Busy returns a *refusal.RefusedError that names what is at work in the project at root on this computer, and the commands that end
// it; nil while nothing is.
func Busy(root string) error {
	places, err := folders(project.At(root, ""))
	if err != nil {
		return refusal.Folder(err)
	}
	busy, err := here(places, claimants(places))
	for _, p := range places {
		m, bad := p.OpenFiles(project.StoreOptions{ReadOnly: true})
		if bad != nil {
			continue // it is in a database, or cannot be read: nothing of it goes on here
		}
		if now, bad := m.View(); bad == nil && refusal.Finishing(now.Task) != "" {
			busy = append(busy, cutOff(p, now))
		}
		m.Close()
	}
	if err != nil {
		return err
	}
	return atWork(busy)
}

// kindOf returns what has the lock of a machine with that file name, and the agent that it is named for. The kind of other locks, as that of the move itself, is
// zero.
func kindOf(file string, claimants map[string]string) (kind postgres.Kind, name string) {
	lock := strings.TrimSuffix(file, ".lock")
	for _, l := range locks {
		if strings.HasPrefix(file, l.begins) {
			return l.kind, lock[strings.LastIndex(lock, "-")+1:]
		}
	}
	switch who := claimants[lock]; {
	case uuid.Validate(lock) != nil:
		return postgres.Kind{}, ""
	case who != "":
		return postgres.Claimed, who
	}
	return server, ""
}

// pipelines returns the names of the runs of pipelines of which a process lives.
func pipelines(main project.Place) (runs []string, err error) {
	dir := main.Path("pipeline-tmp")
	if conf, err := config.Load(filepath.Join(main.Root, "ferrus.toml")); err == nil {
		dir = conf.Pipelines.TmpDir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(main.Root, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refusal.Folder(err)
	}
	for _, e := range entries {
		for _, at := range []string{".", "workers"} {
			names, err := held(filepath.Join(dir, e.Name(), at))
			if err == nil && len(names) > 0 && !slices.Contains(runs, e.Name()) {
				runs = append(runs, e.Name())
			}
		}
	}
	return runs, nil
}

// held returns the names of the lock files of a folder that somebody holds.
func held(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refusal.Folder(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") || !e.Type().IsRegular() {
			continue
		}
		if held, err := filelock.Held(filepath.Join(dir, e.Name())); err == nil && held {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// alive reports whether a session of a machine lives on this computer.
func alive(root string) func(branch, session string) bool {
	return func(branch, session string) bool {
		return live.In(project.At(root, branch).Dir()).Probe(session) == lease.Alive
	}
}

// atWork is the refusal of a move while something is at work, nil while nothing is. It names each thing with its computer, and the commands that end it.
func atWork(all []postgres.Work) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b postgres.Work) int {
		return cmp.Or(strings.Compare(a.Branch, b.Branch), strings.Compare(a.Host, b.Host))
	})
	var what, ends []string
	for _, w := range all {
		text := w.What
		if w.Branch != "" {
			text += " of " + w.Branch
		}
		end := w.End.On(w.Branch)
		if w.Host != "" && !w.Here {
			text += " on " + w.Host
			end = "on " + w.Host + ": " + end
		}
		what = append(what, text)
		if !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	slices.Sort(what)
	return &refusal.RefusedError{Code: refusal.WrongState, Message: "the project is at work: " + strings.Join(slices.Compact(what), "; "), Person: true,
		Remedy: refusal.Say("nothing was changed: end it, then try again. %s", strings.Join(ends, "; "))}
}
