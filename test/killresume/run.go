//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/test/model"
)

// A lab has the programs that all runs share.
type lab struct {
	dir string // of all runs
	bin string // ferrus, ferrusd, the scripted agent and this program

	packs map[string]string // the folders of the programs of peers
	model *model.Server     // of real clients
}

func newLab(ctx context.Context) (*lab, error) {
	dir, err := os.MkdirTemp("", "killresume-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, bin: filepath.Join(dir, "bin"), packs: map[string]string{}}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.bin+"/", "./cmd/ferrus", "./cmd/ferrusd", "./docs/examples/scripted", "./test/killresume")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("go build: %w\n%s", err, out), os.RemoveAll(dir))
	}
	l.listen(ctx)
	return l, nil
}

// A world is the project of one run, and what is known of it.
type world struct {
	dir    string // the repository
	record record
	bin    string
	exe    string // this program
	pack   string // the folder of the program of a peer
	port   int    // of its server
	tasks  int
	wild   bool
	model  *model.Server

	adapter adapter
	mains   []*service
	notes   int // how many lines the person has written
	states  map[int]state
	stalls  int
	samples []sample
}

// query marks the processes by which this program asks about a system: nobody kills those.
const query = "KILLRESUME_QUERY=1"

// home is where the project and all that belongs to the run is.
func (w *world) home() string { return filepath.Dir(w.dir) }

// temporary is for temporary files: beside the home folders, for Codex makes no helper programs where its own is below.
func (w *world) temporary() string { return filepath.Join(w.home(), "tmp") }

// run runs a command in the repository, on the first computer, and returns its output.
func (w *world) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	return w.runIn(ctx, w.dir, w.mains[0].home, name, args...)
}

func (w *world) runIn(ctx context.Context, dir, home, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "env", append([]string{name}, args...)...) // which finds the program of a peer by the environment
	cmd.Dir = dir
	cmd.Env = append(w.environ(home), query)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s %v: %w\n%s%s", filepath.Base(name), args, err, out, stderr.String())
	}
	return out, nil
}

// environ is the environment of a computer of the run: a home of its own, and an author for git.
func (w *world) environ(home string) []string {
	return append(append(os.Environ(), model.ClaudeEnv(w.url())...), "MODEL_KEY=none", "HOME="+home, "TMPDIR="+w.temporary(), "PATH="+w.pack+string(filepath.ListSeparator)+os.Getenv("PATH"), "NODE_PATH="+w.modules(),
		"XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "DO_NOT_TRACK=1", "NO_COLOR=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_NOSYSTEM=1")
}

// The times of a run.
const (
	tick    = 20 * time.Millisecond
	restart = 300 * time.Millisecond // the main program is not started more often
	look    = 250 * time.Millisecond // between two looks at the states
	edit    = 400 * time.Millisecond // between two edits of the person
)

// freePort is a port of this computer on which nothing listens now.
func freePort() (int, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return free.Addr().(*net.TCPAddr).Port, free.Close()
}

// play runs the tasks on one system once, and judges it.
func (l *lab) play(ctx context.Context, a adapter, o options, seed uint64, kills bool) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	home, err := os.MkdirTemp(l.dir, a.name+"-")
	if err != nil {
		return result{}, err
	}
	w := &world{dir: filepath.Join(home, "project"), record: record(filepath.Join(home, "record")), bin: l.bin, exe: filepath.Join(l.bin, "killresume"),
		pack: cmp.Or(l.packs[a.name], l.bin), tasks: o.tasks, wild: o.wild, model: l.model, adapter: a}
	if w.port, err = freePort(); err != nil {
		return result{}, err
	}
	w.mains = a.mains(w)
	for _, dir := range []string{w.dir, string(w.record), w.temporary()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return result{}, err
		}
	}
	if _, err := w.run(ctx, "sh", "-c", "git init -q -b main && echo '# A project' >README.md && git add . && git commit -qm 'a project'"); err != nil {
		return result{}, err
	}
	if o.wild {
		if err := w.record.wild(seed); err != nil {
			return result{}, err
		}
	}
	if err := a.prepare(ctx, w); err != nil {
		return result{}, err
	}
	k := newKiller(w, seed, o.every)
	defer k.end()
	began := time.Now()
	if err := w.live(ctx, o, k, kills); err != nil {
		return result{}, err
	}
	took := time.Since(began)
	k.end()
	if a.collect != nil {
		if err := a.collect(ctx, w); err != nil {
			return result{}, err
		}
	}
	r, err := w.judge()
	r.System, r.Seed, r.Kills, r.Seconds, r.Samples = a.name, seed, kills, took.Seconds(), w.samples
	return r, err
}

// live is the time of a run: until each task has an end, or the limit.
func (w *world) live(ctx context.Context, o options, k *killer, kills bool) error {
	began := time.Now()
	for _, s := range w.mains {
		s.due = began
	}
	var looked, edited, moved, sampled time.Time
	var size int64
	asked := map[int]time.Time{}
	seen := make(chan sight, 1)
	for time.Since(began) < o.limit {
		for _, s := range w.mains {
			if err := w.manage(s); err != nil {
				return err
			}
		}
		if kills && time.Since(began) < o.limit/2 { // afterwards each task can come to its end
			if err := k.strike(); err != nil {
				return err
			}
		}
		if time.Since(edited) >= edit {
			edited = time.Now()
			if err := w.edit(); err != nil {
				return err
			}
		}
		if n, err := w.record.size(); err != nil {
			return err
		} else if n != size {
			size, moved = n, time.Now()
		}
		if o.wild && time.Since(sampled) >= o.limit/500 {
			sampled = time.Now()
			if s, ok, err := w.sample(began); err != nil {
				return err
			} else if ok {
				w.samples = append(w.samples, s)
			}
		}
		if looked.IsZero() || time.Since(looked) >= look {
			looked = time.Now().Add(o.limit) // not again before this is answered
			go func() {
				states, err := w.adapter.states(ctx, w)
				seen <- sight{states, err}
			}()
		}
		select {
		case s := <-seen:
			looked = time.Now()
			over, err := w.look(ctx, s, asked, o.answer)
			if err != nil || over {
				return err
			}
			if time.Since(moved) > o.silence && len(asked) == 0 {
				w.stalls, moved = w.stalls+1, time.Now()
				if err := w.help(ctx, 0); err != nil {
					return err
				}
			}
		default:
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(tick):
		}
	}
	return nil
}

// A service is a main program of a system, which a manager of services starts again when it has failed or was killed.
type service struct {
	dir, home string
	args      []string
	asks      int // the exit code with which it waits for a person, and is not started again; 0 for none

	pid     int        // of its last process
	ended   chan error // how it has ended; nil while it does not run
	started time.Time  // the last time
	due     time.Time  // when it is to be started; zero if it runs, or has done all that it can
	helped  bool       // a person has answered since it was started
}

// service is a program that runs in the project.
func (w *world) service(args ...string) *service {
	return &service{dir: w.dir, home: w.home(), args: args}
}

// manage does what is due for a service.
func (w *world) manage(s *service) error {
	select {
	case err := <-s.ended:
		var exit *exec.ExitError
		if s.ended = nil; !s.helped && (err == nil || errors.As(err, &exit) && exit.ExitCode() == s.asks) {
			return nil
		}
		if s.due.IsZero() {
			s.due = s.started.Add(restart)
		}
	default:
	}
	if s.due.IsZero() || s.ended != nil || time.Now().Before(s.due) {
		return nil
	}
	s.due, s.helped = time.Time{}, false
	log, err := os.OpenFile(filepath.Join(string(w.record), "main.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("env", s.args...) // which finds the program of a peer by the environment
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, w.environ(s.home), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.pid, s.ended, s.started = cmd.Process.Pid, make(chan error, 1), time.Now()
	go func(ended chan<- error) { ended <- cmd.Wait() }(s.ended)
	return w.record.add(event{Kind: started, Pid: cmd.Process.Pid})
}

// edit is a person at work in the project: a line more in a file of their own.
func (w *world) edit() error {
	f, err := os.OpenFile(filepath.Join(w.dir, "notes.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, note(w.notes))
	w.notes++
	return errors.Join(err, f.Close())
}

func note(n int) string { return fmt.Sprintf("note %d", n) }

// A sight is what a system says of how the tasks stand.
type sight struct {
	states map[int]state
	err    error
}

// look records what is done, and answers what has been asked for a while.
func (w *world) look(ctx context.Context, s sight, asked map[int]time.Time, answer time.Duration) (over bool, err error) {
	if s.err != nil {
		return false, s.err
	}
	states := s.states
	over = true
	for task := 1; task <= w.tasks; task++ {
		s := states[task]
		if s == done && w.states[task] != done {
			if err := w.record.add(event{Kind: accepted, Task: task}); err != nil {
				return false, err
			}
		}
		over = over && (s == done || s == failed)
		if s != asking {
			delete(asked, task)
			continue
		}
		if asked[task].IsZero() {
			asked[task] = time.Now()
		} else if time.Since(asked[task]) > answer {
			asked[task] = time.Now()
			if err := w.help(ctx, task); err != nil {
				return false, err
			}
		}
	}
	w.states = states
	return over, nil
}

// help is an act of the person.
func (w *world) help(ctx context.Context, task int) error {
	if err := w.record.add(event{Kind: helped, Task: task}); err != nil {
		return err
	}
	for _, s := range w.mains {
		if s.helped = true; s.ended == nil && s.due.IsZero() {
			s.due = time.Now() // a person starts it again
		}
	}
	return w.adapter.help(ctx, w, task)
}
