package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project/queue"
)

// built is the real binary, not this test.
func built(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "ferrus")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return bin
}

// BenchmarkFirstPaint is from the start of ferrus ui to its first picture. It also reports when the task is on it.
func BenchmarkFirstPaint(b *testing.B) {
	bin, dir := built(b), sleeping(b, "One task")
	var whole time.Duration
	for b.Loop() {
		begin := time.Now()
		x := inTerminal(b, dir, 120, 40, nil, bin, "ui")
		x.shows(b, "needs you", "q quit")
		b.StopTimer()
		x.shows(b, "One task", "s resume")
		whole += time.Since(begin)
		x.press(b, "q")
		x.end(b)
		b.StartTimer()
	}
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "whole-ms/op")
}

// BenchmarkAllProjects is from the start of ferrus ui --all to the picture with what needs the person in twenty projects, of which one is damaged,
// one's lock is held, and one is gone.
func BenchmarkAllProjects(b *testing.B) {
	b.Setenv(trust.EnvStateDir, filepath.Join(b.TempDir(), "state"))
	bin := built(b)
	var dirs []string
	for i := range 20 {
		dirs = append(dirs, sleeping(b, "Wall "+itoa(i)))
	}
	state := func(i int, name string) string { return filepath.Join(dirs[i], ".ferrus", name) }
	lock, err := filelock.Acquire(b.Context(), state(1, "STATE.lock"))
	if err != nil {
		b.Fatal(err)
	}
	defer lock.Close()
	if err := errors.Join(os.Remove(state(0, "STATE.json")), os.WriteFile(state(0, "journal.jsonl"), []byte("{}\n"), 0o600), os.Remove(state(1, "STATE.json")),
		os.RemoveAll(dirs[2])); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x := inTerminal(b, b.TempDir(), 120, 60, nil, bin, "ui", "--all")
		x.shows(b, "20 projects", "Wall 3", "Wall 19", "its folder is gone")
		b.StopTimer()
		x.press(b, "q")
		x.end(b)
		b.StartTimer()
	}
}

// BenchmarkKeyToScreen is from a key to the screen that it leads to, in a project with a thousand items. It also reports which time 95 of 100 keys keep.
func BenchmarkKeyToScreen(b *testing.B) {
	bin, dir := built(b), sleeping(b, "One task")
	for i := range 1000 {
		if _, err := queue.Put(filepath.Join(dir, ".ferrus"), "task-"+itoa(i), "Task "+itoa(i)); err != nil {
			b.Fatal(err)
		}
	}
	x := inTerminal(b, dir, 120, 40, nil, bin, "ui")
	x.shows(b, "One task", "s resume")
	keys := []string{"?", "q"} // esc begins sequences of keys, and so is waited for
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		x.press(b, keys[i%2])
		x.until(b, "the help, or none", func(shown string) bool { return strings.Contains(shown, "┌─ Keys") == (i%2 == 0) })
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// BenchmarkIdle reports the milliseconds of processor time that an open screen takes in a second in which nothing happens.
func BenchmarkIdle(b *testing.B) {
	bin, dir := built(b), sleeping(b, "One task")
	x := inTerminal(b, dir, 120, 40, nil, bin, "ui")
	x.shows(b, "One task", "s resume")
	const watched = 30 * time.Second
	for b.Loop() {
		before := ticks(x.cmd.Process.Pid)
		time.Sleep(watched)
		used := 1000 * float64(ticks(x.cmd.Process.Pid)-before) / 100 // a tick is 10 ms
		b.ReportMetric(used/watched.Seconds(), "cpu-ms/s")
	}
}

// ticks are what a process and those that it started have used of the processors.
func ticks(pid int) (n int) {
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	n = atoi(fields[11]) + atoi(fields[12])
	for _, child := range children(pid) {
		n += ticks(child)
	}
	return n
}
