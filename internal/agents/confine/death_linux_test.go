package confine_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// below are the processes below one, by a word of their command line.
func below(pid int) map[string]int {
	parents, lines := map[int]int{}, map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		text, _ := os.ReadFile(stat)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parents[id], _ = strconv.Atoi(fields[1])
		line, _ := os.ReadFile(filepath.Dir(stat) + "/cmdline")
		lines[id] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	found := map[string]int{}
	for id, line := range lines {
		for at := id; at > 1; at = parents[at] {
			if parents[at] != pid {
				continue
			}
			switch {
			case strings.HasPrefix(line, "bwrap ") && parents[id] == pid:
				found["bwrap"] = id
			case strings.HasPrefix(line, "bwrap "):
				found["bwrap inside"] = id
			case strings.Contains(line, " serve "):
				found["server"] = id
			case strings.Contains(line, " connect "):
				found["relay"] = id
			case strings.Contains(line, "wait_for_task"):
				found["client"] = id
			default:
				found[line] = id
			}
		}
	}
	return found
}

// TestTheClaimEndsWithTheClient: whichever process of the executor is killed, the work is free within milliseconds, nothing is left
// behind, and the work tree is as it was.
func TestTheClaimEndsWithTheClient(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		victims := []string{"client", "relay", "server", "shim"}
		if in.mechanism == sandbox.Bwrap {
			victims = append(victims, "bwrap", "bwrap inside")
		}
		for i, victim := range victims {
			if !kit.Sampled(6, i, slices.Index(settings, in)) {
				continue
			}
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, in, "wait_for_task sh:work.sh hang", map[string]string{"work.sh": "sleep 1000 & echo ready >ready\n"}, "")
				before := s.dotGit()
				s.start(t)
				kit.Eventually(t, "the executor works", func() bool { return s.at.Exists("ready") })
				e := s.at.Human().Engine()
				slot := conductor.Slot(e, agents.Executor)
				o, taken := slot.Taken()
				all := below(o.Shim)
				if !taken || len(all) < 4 || (s.dotGit() != before) == (in.mechanism == sandbox.Bwrap) {
					t.Fatalf("%v, %v, %q", o, all, s.dotGit())
				}
				id := all[victim]
				if victim == "shim" {
					id = o.Shim
				}
				now, err := e.View()
				must(t, err)
				ended := e.Store().SessionDone(now.Task.Session)
				began := time.Now()
				must(t, unix.Kill(id, unix.SIGKILL))
				select {
				case <-ended:
					t.Logf("the work is free %v after kill -9 of the %s", time.Since(began), victim)
				case <-time.After(kit.Patience):
					t.Fatal("the work is still claimed")
				}
				if victim == "relay" || victim == "server" {
					must(t, slot.Stop(t.Context())) // the client goes on, and may connect again
				}
				select {
				case <-slot.Freed():
				case <-time.After(kit.Patience):
					t.Fatal("the slot is taken")
				}
				must(t, conductor.EndAll(t.Context(), e))
				for what, id := range all {
					kit.Eventually(t, what+" ends", func() bool { return !proc.Alive(id) })
				}
				if s.dotGit() != before {
					t.Errorf("the work tree names %q", s.dotGit())
				}
				if _, err := os.Stat(s.folder().Ticket()); err == nil {
					t.Error("the ticket is left")
				}
			})
		}
	})
}

// TestExecutorsAreKilledAtRandom: whatever process of an executor dies at whatever moment of its start or its work, the next one takes
// the work up, nothing is left behind, and the work tree is as it was. It goes on until the shim and another process have died, with -full until
// each kind has died twice.
func TestExecutorsAreKilledAtRandom(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		s := newSite(t, in, "wait_for_task sh:work.sh hang", map[string]string{"work.sh": "sleep 1000 & setsid sleep 1000 & exit 0\n"}, "")
		before, e := s.dotGit(), s.at.Human().Engine()
		slot := conductor.Slot(e, agents.Executor)
		due := map[string]int{"client": 2, "relay": 2, "server": 2, "shim": 2}
		if in.mechanism == sandbox.Bwrap {
			due["bwrap"], due["bwrap inside"] = 2, 2
		}
		if !kit.Full() {
			kinds := slices.Sorted(maps.Keys(due))
			due = map[string]int{kinds[rand.IntN(len(kinds))]: 1, "shim": 1}
		}
		// answered answers the question whether to go on, which ferrus asks after some deaths, and so perhaps after the last.
		answered := func() bool {
			if now, err := e.View(); err != nil || now.Task.State != state.AwaitingHuman {
				return false
			}
			enginetest.Must(s.at.Human().Answer(t.Context(), "", "Go on."))(t)
			return true
		}
		for round := 0; len(due) > 0; round++ {
			if round == 100 {
				t.Fatalf("not drawn in %d rounds: %v", round, due)
			}
			s.start(t)
			if answered() {
				continue
			}
			var victims map[string]int
			var names []string // of those that are still to be killed
			kit.Eventually(t, "a process is there", func() bool {
				o, taken := slot.Taken()
				if !taken {
					return true // a question was asked
				}
				victims = below(o.Shim)
				victims["shim"] = o.Shim
				names = slices.DeleteFunc(slices.Collect(maps.Keys(victims)), func(name string) bool { return due[name] == 0 })
				return rand.IntN(3) == 0 && len(names) > 0
			})
			if len(names) == 0 {
				continue
			}
			name := names[rand.IntN(len(names))]
			_ = unix.Kill(victims[name], unix.SIGKILL)
			if due[name]--; due[name] == 0 {
				delete(due, name)
			}
			must(t, conductor.EndAll(t.Context(), e))
			for what, id := range victims {
				kit.Eventually(t, what+" ends", func() bool { return !proc.Alive(id) })
			}
			if left := marked(s.at.Dir); len(left) > 0 {
				t.Fatalf("after the death of the %s there is %q", name, left)
			}
			s.start(t) // puts the work tree back where the shim could not
			must(t, conductor.EndAll(t.Context(), e))
			if now := s.dotGit(); now != before {
				t.Fatalf("after the death of the %s the work tree names %q", name, now)
			}
		}
		answered()
		now, err := e.View()
		must(t, err)
		if now.Task.State != state.Executing || now.Task.ClaimedBy != "" && !e.Verdict(now).Dead {
			t.Errorf("%s, claimed by %s", now.Task.State, now.Task.ClaimedBy)
		}
	})
}

// marked are the command lines of processes that work in a folder.
func marked(dir string) (lines []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == dir {
			if line, _ := os.ReadFile(filepath.Dir(link) + "/cmdline"); len(line) > 0 {
				lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return lines
}

// TestAnExecutorIsAskedToEnd: the request reaches the client itself, which ends in its own way.
func TestAnExecutorIsAskedToEnd(t *testing.T) {
	inEach(t, func(t *testing.T, in setting) {
		s := newSite(t, in, "wait_for_task leave", nil, "")
		s.start(t)
		kit.Eventually(t, "the executor waits", func() bool { _, log := s.executor(t); return strings.Contains(log, "waits\n") })
		must(t, conductor.Slot(s.at.Human().Engine(), agents.Executor).Stop(t.Context()))
		if run, log := s.executor(t); !strings.Contains(log, "leaves\n") || run.Exit != 0 || !run.Stopped {
			t.Errorf("%+v\n%s", run, log)
		}
	})
}

// TestASandboxThatDoesNotHoldStartsNothing: what can be opened from inside is found before the client starts, and the run says so.
func TestASandboxThatDoesNotHoldStartsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, landlocked, "wait_for_task submit", nil, "")
	e := s.at.Human().Engine()
	now, err := e.View()
	must(t, err)
	gate, err := e.Gate(now)
	must(t, err)
	before := s.dotGit()
	p, err := plan.Of(t.Context(), plan.Executor{Gate: gate, Place: e.Place(), Work: s.at.Dir, Ferrus: s.self, Environ: os.Environ()})
	must(t, err)
	order, environ := p.Order, p.Environ
	order.Deny = append(order.Deny, "/usr/bin/env")
	_, err = process.Start(process.Order{Slot: conductor.Slot(e, agents.Executor), Runs: conductor.Runs(e, now.Task.TaskID), Logs: e.Place().Path("logs"), Tag: "t",
		Run: process.Run{Duty: agents.Executor, Agent: "command"}, Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", "echo started"}, Env: environ, Dir: s.at.Dir}, Inside: order})
	must(t, err)
	<-conductor.Slot(e, agents.Executor).Freed()
	run, log := s.executor(t)
	if run.Exit != sandbox.ExitRefused || !strings.Contains(run.Error, "/usr/bin/env can be opened from inside") || strings.Contains(log, "started") {
		t.Errorf("%+v\n%s", run, log)
	}
	if s.dotGit() != before {
		t.Errorf("the work tree names %q", s.dotGit())
	}
}
