package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// A WorkerSession is what one attempt of a worker may do in its run. An attempt that no longer
// counts is refused: another one does its work.
type WorkerSession struct {
	f       *Folder
	role    string
	attempt int
}

// WorkerSession returns the session of an attempt. The error says that there is no such role.
func (f *Folder) WorkerSession(role string, attempt int) (*WorkerSession, error) {
	if _, phase := f.Workflow.Worker(role); phase < 0 {
		var roles []string
		for _, p := range f.Workflow.Phases {
			for _, k := range p.Workers {
				roles = append(roles, k.Role)
			}
		}
		return nil, fmt.Errorf("the run %s has no worker %q; it has %s", f.Name(), role, strings.Join(roles, ", "))
	}
	return &WorkerSession{f, role, attempt}, nil
}

// An Assignment is the work of a worker.
type Assignment struct {
	Role     string    `json:"role"`
	Topic    string    `json:"topic"`
	Task     string    `json:"task"`
	Prompt   string    `json:"prompt"`            // everything that it gets to read at its start
	Inputs   []Input   `json:"inputs"`            // what it reads
	Output   string    `json:"output"`            // absolute path of the file it writes
	Deadline time.Time `json:"deadline,omitzero"` // when its time is over, without the grace
	Left     int       `json:"seconds_left"`
	Delivers bool      `json:"delivers,omitempty"` // it sends the result by itself
	Speaks   bool      `json:"speaks,omitempty"`   // it has turns in a dialogue
}

// An Input is a file that a worker reads.
type Input struct {
	Path  string `json:"path"` // absolute
	Ready bool   `json:"ready"`
}

// ErrReplaced means that another attempt does the work, or that ferrus has given up the worker.
var ErrReplaced = errors.New("this attempt no longer counts: it was replaced or given up; stop now")

// ErrTooLong means that the text is too long for the dialogue.
var ErrTooLong = errors.New("that does not fit into the dialogue")

// Assignment returns the work of the worker.
func (d *WorkerSession) Assignment(now time.Time) (Assignment, error) {
	facts, err := d.facts(now)
	if err != nil {
		return Assignment{}, err
	}
	f := d.f
	k, phase := f.Workflow.Worker(d.role)
	s := facts.Status.Worker(d.role)
	prompt, err := f.Prompt(d.role)
	if err != nil {
		return Assignment{}, d.orReplaced(err)
	}
	final, _ := f.Workflow.Final()
	a := Assignment{Role: d.role, Topic: facts.Status.Topic, Task: k.Task, Prompt: prompt, Inputs: []Input{}, Output: f.Path(k.File()),
		Deadline: facts.WorkEnd(d.role), Delivers: f.Workflow.ByTerminal() && final == d.role,
		Speaks: f.Workflow.Phases[phase].How() == workflow.Talking}
	if a.Speaks {
		a.Output = f.Path(pipeline.DialogueFile)
	}
	a.Left = int(max(0, a.Deadline.Sub(facts.Clock(d.role))) / time.Second)
	lost := facts.Lost(s.Role)
	for _, file := range f.Workflow.Waits(d.role) {
		a.Inputs = append(a.Inputs, Input{f.Path(file), !slices.Contains(lost, file)})
	}
	return a, nil
}

// facts returns the facts of a worker that still counts, otherwise ErrReplaced.
func (d *WorkerSession) facts(now time.Time) (pipeline.Facts, error) {
	if _, err := d.f.lstat(); err != nil {
		return pipeline.Facts{}, ErrReplaced // it is archived
	}
	facts, err := d.f.present(now)
	if err != nil {
		return facts, d.orReplaced(err)
	}
	seen, s := facts.Workers[d.role], facts.Status.Worker(d.role)
	if over := facts.Status.ResultDelivered || facts.Status.State == pipeline.IsCancelled; over || seen.Attempt > d.attempt || s.Status == pipeline.Failed {
		return facts, ErrReplaced
	}
	return facts, nil
}

// orReplaced returns ErrReplaced for an error if another process has archived the run meanwhile.
func (d *WorkerSession) orReplaced(err error) error {
	if err == nil {
		return nil
	}
	if _, gone := d.f.lstat(); gone != nil {
		return ErrReplaced
	}
	return err
}

// Wait waits until all inputs exist, at most for most, and returns the missing ones.
func (d *WorkerSession) Wait(ctx context.Context, most time.Duration) ([]string, error) {
	w := d.f.watch(d.f.Workflow.Waits(d.role))
	defer w.Close()
	for end := time.Now().Add(most); ; {
		facts, err := d.facts(time.Now())
		if err != nil {
			return nil, err
		}
		lost := facts.Lost(d.role)
		if len(lost) == 0 || !time.Now().Before(end) || ctx.Err() != nil {
			for i, file := range lost {
				lost[i] = d.f.Path(file)
			}
			return lost, ctx.Err()
		}
		w.wait(ctx, d.f.awaited(facts, d.role), end)
	}
}

// Write makes a text the output of the worker, in one step: readers see nothing or all. In a
// dialogue it writes the text into the last entry, with consensus; elsewhere consensus has no
// meaning. It returns the path.
func (d *WorkerSession) Write(text string, consensus bool, now time.Time) (string, error) {
	facts, err := d.facts(now)
	if err != nil {
		return "", err
	}
	k, phase := d.f.Workflow.Worker(d.role)
	if d.f.Workflow.Phases[phase].How() == workflow.Talking {
		return d.speak(facts, text, consensus)
	}
	if int64(len(text)) < k.Least() {
		return "", fmt.Errorf("the output has %d bytes and must have %d at least: write the whole result", len(text), k.Least())
	}
	return d.f.Path(k.File()), d.orReplaced(d.f.durably(k.File(), []byte(text), 0o600))
}

func (d *WorkerSession) speak(facts pipeline.Facts, text string, consensus bool) (string, error) {
	talk, err := pipeline.DecodeDialogue(facts.Talk.Base)
	if err != nil {
		return "", err
	}
	if talk.Turn != d.role || !talk.Open() {
		return "", fmt.Errorf("it is not the turn of %s: stop now", d.role)
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the turn is empty: write a text")
	}
	last := &talk.Dialogue[len(talk.Dialogue)-1]
	last.Content, last.Consensus = text, consensus
	whole := talk.Encode()
	if _, err := pipeline.DecodeDialogue(whole); err != nil { // otherwise it could not be read any more
		return "", fmt.Errorf("%w: %v", ErrTooLong, err)
	}
	return d.f.Path(pipeline.DialogueFile), d.orReplaced(d.f.durably(pipeline.DialogueFile, whole, 0o600))
}

// Deliver sends the worker's output as the result of the run. The error is ErrSent, with the
// delivery, if it was already sent, by any sender.
func (d *WorkerSession) Deliver(ctx context.Context, o Options) (pipeline.Delivery, error) {
	o = o.orUsual()
	_, err := d.facts(o.Now())
	// This comes now, because the delivery may be what has ended the worker's time.
	if was, unread := d.f.delivery(); unread == nil && was.State == pipeline.Delivered {
		return was, ErrSent
	}
	if err != nil {
		return pipeline.Delivery{}, err
	}
	final, file := d.f.Workflow.Final()
	if final != d.role || !d.f.Workflow.ByTerminal() {
		return pipeline.Delivery{}, fmt.Errorf("%s delivers nothing: ferrus sends the result, or the worker %s does; write your output and stop", d.role, final)
	}
	var sent pipeline.Delivery
	text, err := d.f.slurp(file)
	if k, _ := d.f.Workflow.Worker(d.role); err == nil && int64(len(text)) < k.Least() {
		err = fmt.Errorf("%s does not exist yet: write the output first", d.f.Path(file))
	}
	if err == nil {
		sent, err = d.f.send(ctx, o, d.role, text, false)
	}
	return sent, d.orReplaced(err)
}

// Log returns the path of the output of a worker's newest attempt, "" when there was none.
func (f *Folder) Log(role string) (string, error) {
	list, err := f.Runs(role)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[len(list)-1].Log, nil
}
