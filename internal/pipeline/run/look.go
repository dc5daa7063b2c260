package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/filelock"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/slot"
)

// settled is how long a file has not been changed that is whole, as far as anybody can tell.
const settled = 2 * time.Second

// A sum is what is known of a file that has not changed since.
type sum struct {
	size  int64
	mod   time.Time
	sha   string
	first string
}

// facts gathers everything that is decided on, for a status. Runs are what reads the attempts of a worker: Folder.Runs for
// who only looks, Folder.settle for who holds the lock.
func (f *Folder) facts(status pipeline.Status, now time.Time, runs func(role string) ([]slot.Run, error)) (pipeline.Facts, error) {
	facts := pipeline.Facts{Workflow: f.Workflow, Status: status, Files: map[string]pipeline.File{}, Workers: map[string]pipeline.Seen{}, Now: now}
	for _, p := range status.Phases {
		for _, k := range p.Workers {
			seen, err := f.seen(k.Role, runs)
			if err != nil {
				return facts, err
			}
			facts.Workers[k.Role] = seen
			// After its writer: one that is gone by now wrote no more.
			if file, there, err := f.file(k.Output, now); err != nil {
				return facts, err
			} else if there {
				facts.Files[k.Output] = file
			}
		}
	}
	var err error
	if facts.Delivery, err = f.delivery(); err != nil {
		return facts, err
	}
	if facts.Delivery.Alive, _ = filelock.Held(f.Path(deliveryLock)); facts.Delivery.Alive && facts.Delivery.State == "" {
		facts.Delivery.State = pipeline.Claimed // he has only just begun
	}
	facts.Intent = f.wanted()
	if facts.Talk.Base, err = slurp(f.Path(baseFile)); err == nil {
		facts.Talk.Text, err = slurp(f.Path(pipeline.DialogueFile))
	}
	return facts, err
}

// seen is what a worker's slot and its runs say.
func (f *Folder) seen(role string, runs func(role string) ([]slot.Run, error)) (pipeline.Seen, error) {
	_, taken := f.Slot(role).Taken()
	list, err := runs(role)
	if err != nil || len(list) == 0 {
		return pipeline.Seen{Alive: taken}, err
	}
	r := list[len(list)-1]
	s := pipeline.Seen{Alive: taken, Attempt: attempt(r), Session: r.Client, Spawned: r.Started, Began: r.Launched}
	held := f.Workflow.All()
	if !held {
		s.Began = r.Started
	}
	s.Waiting = taken && held && r.Launched.IsZero()
	if taken || !r.Over() {
		return s, nil
	}
	s.Exited, s.Exit, s.GaveUp = true, r.Exit, r.GaveUp
	ended := r.Cut || r.Stopped
	if ended && s.Exit == 0 { // it was asked to, which is no success
		s.Exit = -1
	}
	if !r.Began() && !ended && !r.GaveUp {
		s.Trouble = r.Error
	}
	if final, _ := f.Workflow.Final(); role == final && s.Exit == 0 {
		s.Sent = strings.Contains(slot.Read(r).Said, f.Workflow.Marker())
	}
	return s, nil
}

// attempt is the number in the name of a run.
func attempt(r slot.Run) int {
	n, _ := strconv.Atoi(r.Name[strings.LastIndexByte(r.Name, '-')+1:])
	return n
}

// settle returns the attempts of a worker, having written down the end of one whose shim was killed before it could.
func (f *Folder) settle(role string) ([]slot.Run, error) {
	return slot.Settle(f.runs(role), func(agents.Duty) slot.Slot { return f.Slot(role) })
}

// alive are the workers that live.
func (f *Folder) alive() []string {
	var roles []string
	for _, p := range f.Workflow.Phases {
		for _, k := range p.Workers {
			if _, taken := f.Slot(k.Role).Taken(); taken {
				roles = append(roles, k.Role)
			}
		}
	}
	return roles
}

// file looks at an output. What is no regular file is none.
func (f *Folder) file(name string, now time.Time) (pipeline.File, bool, error) {
	path := f.Path(name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return pipeline.File{}, false, nil
	}
	if err != nil {
		return pipeline.File{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, known := f.sums[name]
	if age := now.Sub(info.ModTime()); !known || s.size != info.Size() || !s.mod.Equal(info.ModTime()) || age < settled {
		s = sum{size: info.Size(), mod: info.ModTime()}
		if s.sha, s.first, err = read(path); errors.Is(err, fs.ErrNotExist) {
			return pipeline.File{}, false, nil
		}
		if err != nil {
			return pipeline.File{}, false, err
		}
		if f.sums == nil {
			f.sums = map[string]sum{}
		}
		f.sums[name] = s
	}
	old := now.Sub(s.mod) >= settled
	return pipeline.File{Bytes: s.size, SHA256: s.sha, Settled: old, First: s.first}, true, nil
}

// read returns the digest of a file and its first line that says something.
func read(path string) (sha, first string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	head := make([]byte, 400)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", "", err
	}
	sha, err = digestOf(file)
	for line := range bytes.Lines(bytes.ToValidUTF8(head[:n], nil)) {
		if first = strings.Join(strings.Fields(string(line)), " "); first != "" {
			break
		}
	}
	if utf8.RuneCountInString(first) > 120 {
		first = string([]rune(first)[:119]) + "…"
	}
	return sha, first, err
}

// delivery reads delivery.json. One that is torn was claimed by somebody who died while he wrote it, and sent nothing.
func (f *Folder) delivery() (pipeline.Delivery, error) {
	var d pipeline.Delivery
	text, err := slurp(f.Path(deliveryFile))
	if err != nil || text == nil {
		return d, err
	}
	if json.Unmarshal(text, &d) != nil {
		d = pipeline.Delivery{State: pipeline.Claimed}
	}
	return d, nil
}

// An Intent is what a person asks for, under a name of its own.
type Intent struct {
	ID   string        `json:"id"`
	Verb pipeline.Verb `json:"verb"` // Cancel, Resume, Retry, Confirm or Again
	From string        `json:"from,omitempty"`
	By   string        `json:"by"`
}

func (f *Folder) intent() (Intent, error) {
	var i Intent
	text, err := slurp(f.Path(intentFile))
	if err == nil && text != nil {
		err = json.Unmarshal(text, &i)
	}
	return i, err
}

// wanted is what a person wants; what cannot be read is nothing.
func (f *Folder) wanted() pipeline.Intent {
	i, err := f.intent()
	if err != nil || !slices.Contains([]pipeline.Verb{pipeline.Cancel, pipeline.Resume, pipeline.Retry, pipeline.Confirm, pipeline.Again}, i.Verb) {
		return pipeline.Intent{}
	}
	return pipeline.Intent{Verb: i.Verb, From: i.From, By: i.By}
}
