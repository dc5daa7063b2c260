package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// settled is how long a file must be unchanged to count as complete.
const settled = 2 * time.Second

// A sum is what was computed of a file that has not changed since.
type sum struct {
	size  int64
	mod   time.Time
	sha   string
	first string
}

// facts gathers everything on which a decision depends, for a status. runs reads the attempts of a
// worker: Folder.Runs for readers, Folder.settle for the holder of the lock.
func (f *Folder) facts(status pipeline.Status, now time.Time, runs func(role string) ([]process.Run, error)) (pipeline.Facts, error) {
	facts := pipeline.Facts{Workflow: f.Workflow, Status: status, Files: map[string]pipeline.File{}, Workers: map[string]pipeline.Seen{}, Now: now}
	for _, p := range status.Phases {
		for _, k := range p.Workers {
			seen, err := f.seen(k.Role, runs)
			if err != nil {
				return facts, err
			}
			facts.Workers[k.Role] = seen
			// This comes after the worker's lock: a worker that has ended by now cannot write any
			// more.
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
	if facts.Delivery.Alive = f.held(deliveryLock); facts.Delivery.Alive && facts.Delivery.State == "" {
		facts.Delivery.State = pipeline.Claimed // it has just started
	}
	facts.Intent = f.wanted()
	if facts.Questions, err = f.Questions(); err != nil {
		return facts, err
	}
	if facts.Talk.Base, err = f.slurp(baseFile); err == nil {
		facts.Talk.Text, err = f.slurp(pipeline.DialogueFile)
	}
	return facts, err
}

// seen returns the facts of a worker's slot and runs.
func (f *Folder) seen(role string, runs func(role string) ([]process.Run, error)) (pipeline.Seen, error) {
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
	s.Moved = f.moved(role, list)
	s.Exited, s.Exit, s.GaveUp = true, r.Exit, r.GaveUp
	ended := r.Cut || r.Stopped
	if ended && s.Exit == 0 { // it was ended on request, which is not a success
		s.Exit = -1
	}
	if !r.Began() && !ended && !r.GaveUp {
		s.Trouble = r.Error
	}
	if k, _ := f.Workflow.Worker(role); k.Run != "" {
		s.Said = r.Said
	}
	if final, _ := f.Workflow.Final(); role == final && s.Exit == 0 {
		s.Sent = strings.Contains(process.Read(r).Said, f.Workflow.Marker())
	}
	return s, nil
}

// attempt returns the number in the name of a run.
func attempt(r process.Run) int {
	n, _ := strconv.Atoi(r.Name[strings.LastIndexByte(r.Name, '-')+1:])
	return n
}

// settle returns the attempts of a worker, and records the end of one whose shim was killed before
// it could.
func (f *Folder) settle(role string) ([]process.Run, error) {
	return process.Settle(f.runs(role), func(agents.Duty) process.Slot { return f.Slot(role) })
}

// alive returns the live workers.
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

// file reads the facts of an output. A file that is not regular, or is larger than maxFile, is not
// an output.
func (f *Folder) file(name string, now time.Time) (pipeline.File, bool, error) {
	info, err := f.lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
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
		if s.sha, s.first, err = f.sum(name); errors.Is(err, fs.ErrNotExist) {
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

// sum returns the digest of a file and its first line that is not blank.
func (f *Folder) sum(name string) (sha, first string, err error) {
	root, at, err := f.in(name)
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	file, err := root.Open(at)
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
	sha, err = digestOf(io.LimitReader(file, maxFile)) // it may grow meanwhile; the next pass notices that
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

// delivery reads delivery.json. A torn one says nothing about what was sent. It counts as the
// record of a dead sender, so ferrus asks a person, unless the result can be sent twice.
func (f *Folder) delivery() (pipeline.Delivery, error) {
	var d pipeline.Delivery
	text, err := f.slurp(deliveryFile)
	if err != nil || text == nil {
		return d, err
	}
	if json.Unmarshal(text, &d) != nil {
		return pipeline.Delivery{ID: f.Name(), By: byFerrus, State: pipeline.Sending, Target: f.target().String()}, nil
	}
	if err := d.Check(f.Workflow); err != nil {
		return pipeline.Delivery{}, fmt.Errorf("%s: %v; restore the file, or remove it", f.Path(deliveryFile), err)
	}
	return d, nil
}

// An Intent is a request of a person, with an id.
type Intent struct {
	ID   string        `json:"id"`
	Verb pipeline.Verb `json:"verb"` // Cancel, Resume, Retry, Confirm or Again
	From string        `json:"from,omitempty"`
	By   string        `json:"by"`
}

func (f *Folder) intent() (Intent, error) {
	var i Intent
	text, err := f.slurp(intentFile)
	if err == nil && text != nil && json.Unmarshal(text, &i) != nil {
		err = fmt.Errorf("%s is not JSON as ferrus writes it", f.Path(intentFile))
	}
	if err == nil {
		err = i.check(f.Workflow)
	}
	return i, err
}

// check returns an error for a field that Ask does not write.
func (i Intent) check(w workflow.Workflow) error {
	_, from := w.Worker(i.From)
	switch {
	case len(i.ID) > maxWord:
		return errors.New("its id is too long")
	case len(i.By) > maxWord:
		return errors.New("its by is too long")
	case i.From != "" && from < 0 && !slices.ContainsFunc(w.Phases, func(p workflow.Phase) bool { return p.ID == i.From }):
		return fmt.Errorf("its from, %.64q, is not a worker or phase", i.From)
	}
	return nil
}

// wanted returns the request of a person, the zero Intent if it cannot be read.
func (f *Folder) wanted() pipeline.Intent {
	i, err := f.intent()
	if err != nil || !slices.Contains([]pipeline.Verb{pipeline.Cancel, pipeline.Resume, pipeline.Retry, pipeline.Confirm, pipeline.Again}, i.Verb) {
		return pipeline.Intent{}
	}
	return pipeline.Intent{Verb: i.Verb, From: i.From, By: i.By}
}
