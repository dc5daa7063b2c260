//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A result is what became of the tasks of one run.
type result struct {
	System  string  `json:"system"`
	Seed    uint64  `json:"seed"`
	Kills   bool    `json:"kills"`
	Seconds float64 `json:"seconds"`

	Tasks  int            `json:"tasks"`
	Killed map[string]int `json:"killed,omitempty"` // how often, by class

	Right     int `json:"right"`     // done, and the files are right
	Wrong     int `json:"wrong"`     // said to be done, and the files are not
	Failed    int `json:"failed"`    // said to have failed, or to wait for a person, when time was over
	Lost      int `json:"lost"`      // the rest: nobody is named, and nothing has come of it
	Twice     int `json:"twice"`     // begun again after it was said to be done
	Overlaps  int `json:"overlaps"`  // an agent began a task at which another was
	Unchecked int `json:"unchecked"` // said to be done, and no check has found these bytes right before
	Edits     int `json:"edits"`     // lines of the person that are gone
	Stalls    int `json:"stalls"`    // times in which nothing moved and nobody was named
	Acts      int `json:"acts"`      // what a person had to do
	Restarts  int `json:"restarts"`  // of the main program by the manager of services

	Sound  int  `json:"sound"`  // kills before the first fault, or all of them
	Broken bool `json:"broken"` // there was a fault: one of Wrong to Stalls, but for Failed

	Moods   map[string]int `json:"moods,omitempty"`   // how often agents went astray, by mood
	Samples []sample       `json:"samples,omitempty"` // of wild runs

	Starts  int       `json:"starts"`  // of agents at tasks
	Wasted  int       `json:"wasted"`  // tokens of lines that were written more than once
	Resumed []float64 `json:"resumed"` // seconds from a kill that hit an agent until one has begun anew
}

// kills is how often the killer has struck.
func (r result) kills() (n int) {
	for _, k := range r.Killed {
		n += k
	}
	return n
}

// judge looks at the record, the last states and the files.
func (w *world) judge() (result, error) {
	events, err := w.record.events()
	if err != nil {
		return result{}, err
	}
	files, err := w.files()
	return w.verdict(events, files), err
}

// files are those that the judge looks at, by name; what is not there is missing.
func (w *world) files() (map[string]string, error) {
	all := map[string]string{}
	names := []string{"notes.txt"}
	for task := 1; task <= w.tasks; task++ {
		names = append(names, file(task))
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(w.dir, name))
		if err == nil {
			all[name] = string(data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return all, nil
}

// verdict says what events and files mean.
func (w *world) verdict(events []event, files map[string]string) result {
	r := result{Tasks: w.tasks, Killed: map[string]int{}, Stalls: w.stalls}
	doneAt, sound, again := map[int]time.Duration{}, map[int]string{}, map[int]bool{}
	steps := 0
	for i, e := range events {
		switch e.Kind {
		case begun:
			r.Starts++
			if at, ok := doneAt[e.Task]; ok && e.At > at {
				again[e.Task], r.Broken = true, true
			}
		case stepped:
			steps++
		case overlaps:
			r.Overlaps++
			r.Broken = true
		case checked:
			if _, ok := doneAt[e.Task]; !ok {
				sound[e.Task] = e.Hash
			}
		case accepted:
			if _, ok := doneAt[e.Task]; !ok {
				doneAt[e.Task] = e.At
			}
		case astray:
			if r.Moods == nil {
				r.Moods = map[string]int{}
			}
			r.Moods[e.What]++
		case killed:
			r.Killed[e.What]++
			if !r.Broken {
				r.Sound++
			}
			if at, ok := resumed(events[i+1:], e); ok {
				r.Resumed = append(r.Resumed, (at - e.At).Seconds())
			}
		case started:
			r.Restarts++
		case helped:
			r.Acts++
		}
	}
	r.Restarts -= max(1, len(w.mains))
	r.Twice = len(again)
	r.Wasted = max(0, steps-lines*w.tasks) * tokens
	for task := 1; task <= w.tasks; task++ {
		right := files[file(task)] == content(task, lines)
		_, said := doneAt[task]
		switch s := w.states[task]; {
		case s == done && right:
			r.Right++
		case s == done || said:
			r.Wrong++
		case s == asking || s == failed:
			r.Failed++
		default:
			r.Lost++
		}
		if s := w.states[task]; s == done && sound[task] != hash([]byte(files[file(task)])) {
			r.Unchecked++
		}
	}
	there := strings.Split(files["notes.txt"], "\n")
	for n := range w.notes {
		if n >= len(there) || there[n] != note(n) {
			r.Edits++
		}
	}
	r.Broken = r.Broken || r.Wrong+r.Lost+r.Unchecked+r.Edits+r.Stalls > 0
	return r
}

// resumed is when an agent has begun anew after a kill: at the task that was hit, or at any after all was killed. There is none for what
// hit no agent, and if nothing was left to do.
func resumed(later []event, kill event) (time.Duration, bool) {
	for _, e := range later {
		if e.Kind == begun && (kill.What == everything || kill.Task > 0 && e.Task == kill.Task) {
			return e.At, true
		}
	}
	return 0, false
}
