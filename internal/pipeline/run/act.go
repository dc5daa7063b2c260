package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// The intents of a person besides the verbs with files, in this order.
var (
	ending  = []pipeline.Verb{pipeline.Kill, pipeline.Cancel, pipeline.Retry, pipeline.FailWorker}
	sending = []pipeline.Verb{pipeline.Deliver, pipeline.Watchdog, pipeline.Settle, pipeline.Confirm}
)

// granted has, for each intent of a person, the verbs of the table that fulfil it.
var granted = map[pipeline.Verb][]pipeline.Verb{
	pipeline.Cancel:  {pipeline.Cancel},
	pipeline.Resume:  {pipeline.Resume, pipeline.Accept},
	pipeline.Retry:   {pipeline.Retry},
	pipeline.Confirm: {pipeline.Confirm},
	pipeline.Again:   {pipeline.Deliver, pipeline.Watchdog},
}

// grants reports whether a verb of the table fulfils an intent of a person.
func grants(asked, done pipeline.Verb) bool { return slices.Contains(granted[asked], done) }

// do executes an action and records it. After a crash in between, the next tick reads the files and
// decides the same, or finds the action done.
func (b *runState) do(ctx context.Context, facts pipeline.Facts, a pipeline.Action) error {
	l := Line{At: facts.Now, Event: string(a.Do), Row: a.Row, Roles: a.Roles, Reason: a.Reason, Why: a.Why, Aside: a.Aside, By: a.By, Tell: a.Tell}
	b.o.at("begun " + l.Event)
	if slices.Contains(ending, a.Do) {
		if err := b.end(ctx, a.Roles); err != nil {
			return err
		}
		b.o.at("ended " + l.Event)
	}
	if err := b.putAside(a); err != nil {
		return err
	}
	if a.Starts() {
		if err := b.start(a.Roles); err != nil {
			return err
		}
		for _, role := range a.Roles {
			if k, _ := b.f.Workflow.Worker(role); k.Run != "" {
				l.Runs = append(l.Runs, role)
			}
		}
		b.o.at("started " + l.Event)
	}
	if err := b.write(a); err != nil {
		return err
	}
	if slices.Contains(sending, a.Do) {
		sent, err := b.deliver(ctx, facts, a, &l)
		if forestalled(err) { // the next look sees how far that is
			return nil
		}
		if err != nil {
			return err
		}
		if !sent {
			l.Status = b.status
			return b.granting(facts, a, l)
		}
	}
	if a.Do == pipeline.Archive {
		return b.archive(ctx, l)
	}
	l.Status = b.status.After(a, facts.Now)
	return b.granting(facts, a, l)
}

// granting writes the line, and removes the intent of a person that it fulfils.
func (b *runState) granting(facts pipeline.Facts, a pipeline.Action, l Line) error {
	if !grants(facts.Intent.Verb, a.Do) {
		return b.commit(l)
	}
	i, err := b.f.intent()
	if err != nil {
		return err
	}
	l.Intent = i.ID
	if err := b.commit(l); err != nil {
		return err
	}
	return b.f.remove(intentFile)
}

// putAside moves away files that would count as finished output.
func (b *runState) putAside(a pipeline.Action) error {
	for _, file := range a.Aside {
		role := a.Roles[0]
		for _, r := range a.Roles {
			if s := b.status.Worker(r); s.Output == file {
				role = r
			}
		}
		if _, err := b.aside(file, role, b.status.Worker(role).Attempt); err != nil {
			return err
		}
		if file == pipeline.DialogueFile {
			if err := b.f.remove(baseFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		b.o.at("aside " + string(a.Do))
	}
	return nil
}

// write writes the text of an action: the transcript, or the dialogue with the copy that ferrus
// trusts.
func (b *runState) write(a pipeline.Action) error {
	if a.Text == nil {
		return nil
	}
	if a.Do == pipeline.Close {
		return b.f.durably(a.File, a.Text, 0o600)
	}
	text := a.Text
	if a.Do == pipeline.Write {
		var err error
		if text, err = b.f.inputs(text); err != nil {
			return fmt.Errorf("write %s: %v", pipeline.DialogueFile, err)
		}
	}
	if err := b.f.durably(pipeline.DialogueFile, text, 0o600); err != nil {
		return err
	}
	b.o.at("half " + string(a.Do))
	return b.f.durably(baseFile, text, 0o400)
}
