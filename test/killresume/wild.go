//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A mood is what an agent does instead of its task.
type mood struct {
	name string
	do   func(task int) error
}

// moods are those of wild agents. The one that does not fail lies: it says that the work is done.
var moods = []mood{
	{"hangs", func(int) error { select {} }},
	{"lies", func(int) error { return nil }},
	{"crashes", func(task int) error {
		if err := os.WriteFile(file(task), []byte(content(task, 2)), 0o644); err != nil {
			return err
		}
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return p.Kill()
	}},
	{"floods", func(task int) error {
		line := bytes.Repeat([]byte("a flood of words "), 64)
		for range 16 << 10 { // 17 MB
			if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return os.WriteFile(file(task), []byte(content(task, lines)), 0o644)
	}},
	{"writes garbage", func(task int) error {
		garbage := bytes.Repeat([]byte{0, 0xff, '\n', 0x1b}, 64<<10)
		for _, name := range []string{file(task), "garbage-" + strconv.Itoa(task), "STATE.json"} {
			if err := os.WriteFile(name, garbage, 0o644); err != nil {
				return err
			}
		}
		return nil
	}},
}

// wild makes the agents of a run wild: of each of their starts at a task three in ten end in a mood.
func (r record) wild(seed uint64) error {
	return os.WriteFile(filepath.Join(string(r), "wild"), []byte(strconv.FormatUint(seed, 10)), 0o600)
}

// mood is that of this start at a task; false for an agent that works.
func (r record) mood(task int) (m mood, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(string(r), "wild"))
	if os.IsNotExist(err) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	seed, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return m, false, err
	}
	events, err := r.events()
	if err != nil {
		return m, false, err
	}
	start := uint64(0)
	for _, e := range events {
		if e.Kind == begun && e.Task == task {
			start++
		}
	}
	draw := rand.New(rand.NewPCG(seed, uint64(task)<<32|start))
	return moods[draw.IntN(len(moods))], draw.IntN(10) < 3, nil
}

// A sample is what the first main program and the project use at a moment.
type sample struct {
	Seconds float64 `json:"seconds"`
	Done    int     `json:"done"`  // tasks
	RSS     int     `json:"rss"`   // KiB, resident
	Files   int     `json:"files"` // open descriptors
	Disk    int     `json:"disk"`  // KiB of files below .ferrus
}

// sample takes one; ok is false while the program does not run.
func (w *world) sample(began time.Time) (s sample, ok bool, err error) {
	pid := w.mains[0].pid
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return s, false, nil // it has ended
	}
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	if !found {
		return s, false, nil
	}
	if _, err := fmt.Sscan(rest, &s.RSS); err != nil {
		return s, false, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return s, false, nil
	}
	s.Files, s.Seconds = len(files), time.Since(began).Seconds()
	for _, state := range w.states {
		if state == done {
			s.Done++
		}
	}
	err = filepath.WalkDir(filepath.Join(w.dir, ".ferrus"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it may have gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			s.Disk += int(info.Size() >> 10)
		}
		return nil
	})
	return s, true, err
}

// wear is a table of what was used in each quarter of a run: medians, and what a task took.
func wear(r result) string {
	var b strings.Builder
	b.WriteString("| quarter | tasks done | seconds a task | resident MiB | descriptors | KiB on disk a task |\n|---|---|---|---|---|---|\n")
	for q := range 4 {
		part := r.Samples[len(r.Samples)*q/4 : len(r.Samples)*(q+1)/4]
		if len(part) == 0 {
			continue
		}
		first, last := part[0], part[len(part)-1]
		if q == 0 {
			first = sample{}
		}
		tasks := max(1, last.Done-first.Done)
		fmt.Fprintf(&b, "| %d | %d | %.2f | %.1f | %.0f | %.0f |\n", q+1, last.Done-first.Done, (last.Seconds-first.Seconds)/float64(tasks),
			median(part, func(s sample) int { return s.RSS })/1024, median(part, func(s sample) int { return s.Files }), float64(last.Disk-first.Disk)/float64(tasks))
	}
	return b.String()
}
