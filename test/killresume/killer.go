//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A killer strikes at random moments. What it strikes and when follows from its seed; who runs then does not.
type killer struct {
	w     *world
	rand  *rand.Rand
	every time.Duration
	next  time.Time
}

func newKiller(w *world, seed uint64, every time.Duration) *killer {
	k := &killer{w: w, rand: rand.New(rand.NewPCG(seed, 0)), every: every}
	k.later()
	return k
}

func (k *killer) later() {
	k.next = time.Now().Add(time.Duration(k.rand.ExpFloat64() * float64(k.every)))
}

// weights says how often each class is meant.
var weights = []struct {
	class string
	n     int
}{{agents, 5}, {servers, 2}, {conductors, 2}, {checks, 1}, {computers, 1}, {everything, 1}}

// strike kills if it is time. If nothing of the class runs that is meant, it misses: all systems are struck at equally often.
func (k *killer) strike() error {
	if time.Now().Before(k.next) {
		return nil
	}
	sum := 0
	for _, w := range weights {
		sum += w.n
	}
	class, at := "", k.rand.IntN(sum)
	for _, w := range weights {
		if class, at = w.class, at-w.n; at < 0 {
			break
		}
	}
	all, err := k.w.processes()
	if err != nil {
		return err
	}
	k.later()
	victims := k.choose(class, all)
	if len(victims) == 0 {
		return nil
	}
	e := event{Kind: killed, What: class, Pid: victims[0].pid}
	if len(victims) == 1 {
		if e.Task, err = k.w.taskOf(victims[0], all); err != nil {
			return err
		}
	}
	for _, p := range victims {
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return k.w.record.add(e)
}

// off is how long a computer is off that was killed: longer than others wait for it.
const off = 12 * time.Second

// choose returns the processes of a class that are to be killed: one of them, or all of a computer, or all.
func (k *killer) choose(class string, all []process) (victims []process) {
	at := -1
	switch class {
	case everything:
		return all
	case computers:
		if at = k.rand.IntN(len(k.w.mains)); !k.another(at) {
			return nil
		}
		k.w.mains[at].due = time.Now().Add(off)
	}
	for _, p := range all {
		if at >= 0 && p.home == k.w.mains[at].home || k.w.adapter.class(p.line) == class {
			victims = append(victims, p)
		}
	}
	if at < 0 && len(victims) > 0 {
		at = k.rand.IntN(len(victims))
		victims = victims[at : at+1]
	}
	return victims
}

// another reports whether a computer is on, and another one too: with all of them off there is nothing to measure.
func (k *killer) another(at int) bool {
	on := func(s *service) bool { return s.due.Before(time.Now().Add(restart)) }
	return on(k.w.mains[at]) && slices.ContainsFunc(k.w.mains, func(s *service) bool { return s.home != k.w.mains[at].home && on(s) })
}

// end kills all that is left of a run.
func (k *killer) end() {
	for range 10 {
		all, err := k.w.processes()
		if err != nil || len(all) == 0 {
			return
		}
		for _, p := range all {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(tick)
	}
}

// A process is one of a run.
type process struct {
	pid, parent int
	line        string // its command line
	home        string // of its environment
}

var homeOf = regexp.MustCompile(`(?:^|\x00)HOME=([^\x00]*)`)

// processes are those that belong to the run: their environment, their command line or their folder names it.
func (w *world) processes() (all []process, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + entry.Name()
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || bytes.Contains(environ, []byte(query)) {
			continue // it has ended, is of another user, or asks for this program
		}
		raw, err := os.ReadFile(dir + "/cmdline")
		if err != nil || len(raw) == 0 {
			continue
		}
		p := process{pid: pid, line: strings.TrimSuffix(strings.ReplaceAll(string(raw), "\x00", " "), " ")}
		if m := homeOf.FindSubmatch(environ); m != nil {
			p.home = string(m[1])
		}
		folder, _ := os.Readlink(dir + "/cwd")
		if !strings.HasPrefix(p.home, w.home()) && !strings.Contains(p.line, w.home()) && !strings.HasPrefix(folder, w.home()) {
			continue
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		_, fields, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscanf(fields, "%1s %d", new(string), &p.parent); err != nil {
			return nil, fmt.Errorf("%s/stat: %w", dir, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// taskOf is the task at which a process, or its parent, has an agent at work; 0 if there is none.
func (w *world) taskOf(victim process, all []process) (int, error) {
	events, err := w.record.events()
	if err != nil {
		return 0, err
	}
	tasks, parents := map[int]int{}, map[int]int{}
	for _, e := range events {
		if e.Kind == begun {
			tasks[e.Pid] = e.Task
		}
	}
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	for _, p := range all {
		if tasks[p.pid] == 0 {
			continue
		}
		for at, ok := p.pid, true; ok; at, ok = parents[at], parents[at] != 0 {
			if at == victim.pid || at == victim.parent && w.adapter.class(victim.line) == servers {
				return tasks[p.pid], nil
			}
		}
	}
	return 0, nil
}
