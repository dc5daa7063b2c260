//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A weather is what many storms were like.
type weather struct {
	kills, cut, calls, events, bad int
	raged, judged, slowest         time.Duration
}

// blow lets one storm loose on a world and judges it.
func (y *weather) blow(w *world, players, kills, calls int) {
	s := &tempest{world: w, calls: calls}
	s.kills.Store(int64(kills))
	s.rage(players)
	over := s.now()
	for _, l := range s.lives {
		y.calls += len(l.calls)
		if l.killed {
			y.kills++
		}
	}
	y.cut += s.cut
	y.raged += over
	began := time.Now()
	y.judge(s, over)
	took := time.Since(began)
	y.judged, y.slowest = y.judged+took, max(y.slowest, took)
}

// judge holds what the clients saw against the journal and against the machine that knows one call at a time.
func (y *weather) judge(s *tempest, over time.Duration) {
	lines := s.history()
	y.events += len(lines)
	(&storm{world: s.world}).sound(lines)
	engines, wrong := witness(s.lives, lines)
	wrong = append(wrong, order(s.lives, lines)...)
	ops := operations(s.lives, engines, over)
	if got, info := porcupine.CheckOperationsVerbose(sequential, ops, time.Minute); got != porcupine.Ok {
		wrong = append(wrong, fmt.Sprintf("the calls are not linearizable: %s, %s", got, stuck(ops, info)))
	}
	for _, l := range lines {
		if l.Event == state.Violation {
			wrong = append(wrong, "a violation was journalled and nobody edited anything: "+l.Note)
		}
	}
	wrong = append(wrong, s.followed(lines)...)
	wrong = append(wrong, s.left()...)
	y.bad += len(wrong)
	for _, text := range wrong[:min(len(wrong), 5)] {
		s.t.Error(text)
	}
}

// left is what is still there of the servers: processes in the project or told of it, and locks. A check's commands end
// with their server, but not in the same instant.
func (w *world) left() (list []string) {
	for until := time.Now().Add(kit.Patience); ; time.Sleep(time.Millisecond) {
		if list = append(w.processesLeft(), w.locksLeft()...); len(list) == 0 || time.Now().After(until) {
			return list
		}
	}
}

func (w *world) processesLeft() (list []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		cwd, _ := os.Readlink(dir + "/cwd")
		if bytes.Contains(line, []byte(w.dir)) || strings.HasPrefix(cwd, w.dir) {
			list = append(list, "a process is left: "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

// locksLeft asks for every lock of the folder.
func (w *world) locksLeft() (list []string) {
	paths, _ := filepath.Glob(w.path(".ferrus/live/*.lock"))
	for _, path := range append(paths, w.path(".ferrus/STATE.lock")) {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			list = append(list, "a lock is held: "+path)
		}
		f.Close()
	}
	return list
}

// TestKillsLoseNothing kills servers in the middle of what they do, in storms of which each has a project of its own.
func TestKillsLoseNothing(t *testing.T) {
	t.Parallel()
	const each = 25
	var y weather
	for n := range rounds(2, 400) {
		t.Run("", func(t *testing.T) {
			w := bare(t, stormy)
			if n%2 == 1 {
				w = repository(t, stormy)
			}
			y.blow(w, 8, each, 0)
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("rig: cases=%d bad=%d; %d SIGKILLs at %.0f a second, %d in the middle of a call; %d calls, %d events; judged in %v, the slowest storm in %v",
		y.kills, y.bad, y.kills, float64(y.kills)/y.raged.Seconds(), y.cut, y.calls, y.events, y.judged.Round(time.Millisecond), y.slowest.Round(time.Millisecond))
}
