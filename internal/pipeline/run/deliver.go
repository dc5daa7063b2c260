package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/jsontime"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// A result is delivered once: who wants to send it takes the lock, makes delivery.json, which can be made but once, says
// in it that it sends, sends, and says that it is delivered. What a crash leaves behind says how far that came: claimed
// is not sent, and may be taken over; sending may be sent or not, and where that cannot be found out a person is asked.

// Errors of a delivery that is not to be.
var (
	ErrSent  = errors.New("the result is sent already")
	ErrBusy  = errors.New("somebody is sending the result just now")
	ErrDoubt = errors.New("nobody knows whether the result was sent")
)

// forestalled reports whether it was not done because somebody else was quicker.
func forestalled(err error) bool {
	return errors.Is(err, ErrSent) || errors.Is(err, ErrBusy) || errors.Is(err, ErrDoubt)
}

// By whom, when it is no worker.
const (
	byFerrus   = "ferrus"
	byWatchdog = "watchdog"
)

// deliver does what a verb about the delivery asks for, and reports whether the result is delivered by now. The error is
// ErrSent, ErrBusy or ErrDoubt when somebody was quicker, and then nothing was done.
func (b *runState) deliver(ctx context.Context, facts pipeline.Facts, a pipeline.Action, l *Line) (sent bool, err error) {
	var d pipeline.Delivery
	switch a.Do {
	case pipeline.Settle:
		d, err = b.f.verify(ctx, b.o)
	case pipeline.Confirm:
		d, err = b.confirm(facts.Now, a)
	default:
		by, text := byFerrus, []byte(nil)
		if text, err = b.result(a); err != nil {
			return false, err
		}
		if a.Do == pipeline.Watchdog {
			by = byWatchdog
		}
		d, err = b.f.send(ctx, b.o, by, text, facts.Intent.Verb == pipeline.Again)
	}
	if err != nil {
		return false, err
	}
	name := b.f.Name()
	switch {
	case d.State == pipeline.Uncertain:
		l.Tell = fmt.Sprintf("Pipeline %s: the result may have been sent to %s, and may not. See whether it arrived; then ferrus pipeline deliver --confirm, or --again.", name, d.Target)
	case d.State == pipeline.Delivered && l.Tell == "":
		l.Tell = fmt.Sprintf("Pipeline %s: the result is delivered to %s.", name, d.Target)
	}
	return d.State == pipeline.Delivered && a.Do != pipeline.Settle, nil
}

// result is the text that an action delivers.
func (b *runState) result(a pipeline.Action) ([]byte, error) {
	if a.File != "" {
		text, err := b.f.slurp(a.File)
		if err == nil && text == nil {
			err = fmt.Errorf("%s is gone", a.File)
		}
		return text, err
	}
	var parts []pipeline.Part
	for _, role := range a.Roles {
		text, err := b.f.slurp(b.status.Worker(role).Output)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pipeline.Part{Role: role, Text: string(text)})
	}
	return []byte(pipeline.Partial(b.status.Topic, parts, a.Missing)), nil
}

// sender takes the lock of who delivers. The error is ErrBusy when another has it.
func (f *Folder) sender() (*filelock.Lock, error) {
	lock, err := f.hold(deliveryLock)
	if errors.Is(err, filelock.ErrHeld) {
		err = ErrBusy
	}
	return lock, err
}

// send sends the result, unless somebody has or may have; again does so although somebody may have.
func (f *Folder) send(ctx context.Context, o Options, by string, text []byte, again bool) (pipeline.Delivery, error) {
	lock, err := f.sender()
	if err != nil {
		return pipeline.Delivery{}, err
	}
	defer lock.Close()
	was, err := f.delivery()
	if err != nil {
		return was, err
	}
	t := f.target()
	switch {
	case was.State == pipeline.Delivered:
		return was, ErrSent
	case was.State == pipeline.Uncertain && !again, was.State == pipeline.Sending:
		return was, ErrDoubt
	}
	if err := f.durably(finalFile, text, 0o600); err != nil {
		return was, err
	}
	d := pipeline.Delivery{ID: f.Name(), By: by, State: pipeline.Claimed, Target: t.String(), SHA256: digest(text), At: o.Now().UTC().Round(0)}
	if was.State == "" {
		err = f.claim(d)
	} else {
		err = f.note(d)
	}
	if err != nil {
		return d, err
	}
	o.at("claimed")
	return f.transmit(ctx, o, t, d, text)
}

// transmit sends what is claimed, and writes down how that went.
func (f *Folder) transmit(ctx context.Context, o Options, t target, d pipeline.Delivery, text []byte) (pipeline.Delivery, error) {
	d.State = pipeline.Sending
	if err := f.note(d); err != nil {
		return d, err
	}
	o.at("before send")
	if err := t.send(ctx, f, o, by(d), text); err != nil {
		d.State = pipeline.Uncertain
		if t.repeats() { // nothing has left this machine
			d.State = pipeline.Claimed
		}
		o.Log.Warn("the result was not delivered", "target", d.Target, "error", err)
		if noted := f.note(d); noted != nil || t.repeats() {
			return d, errors.Join(fmt.Errorf("deliver to %s: %v", d.Target, err), noted)
		}
		return d, nil
	}
	o.at("after send")
	d.State, d.At = pipeline.Delivered, o.Now().UTC().Round(0)
	return d, f.note(d)
}

// by is whether a worker delivers.
func by(d pipeline.Delivery) bool { return !slices.Contains([]string{byFerrus, byWatchdog}, d.By) }

// verify finds out whether a result was sent whose sender has died; where that cannot be known it is uncertain.
func (f *Folder) verify(ctx context.Context, o Options) (pipeline.Delivery, error) {
	lock, err := f.sender()
	if err != nil {
		return pipeline.Delivery{}, err
	}
	defer lock.Close()
	d, err := f.delivery()
	if err != nil || d.State != pipeline.Sending {
		return d, err
	}
	t := f.target()
	text, err := f.slurp(finalFile)
	if err != nil {
		return d, err
	}
	if !t.repeats() || text == nil {
		d.State = pipeline.Uncertain
		return d, f.note(d)
	}
	return f.transmit(ctx, o, t, d, text)
}

// ownTarget is the target of a result that the final worker sent without ferrus.
const ownTarget = "a target of its own"

// confirm records that a person has seen the result arrive, or, when the action names the file of the result, that the
// worker a.By has sent it.
func (b *runState) confirm(now time.Time, a pipeline.Action) (pipeline.Delivery, error) {
	f := b.f
	lock, err := f.sender()
	if err != nil {
		return pipeline.Delivery{}, err
	}
	defer lock.Close()
	d, err := f.delivery()
	if err != nil {
		return d, err
	}
	if a.File != "" {
		text, err := b.result(a)
		if err == nil {
			err = f.durably(finalFile, text, 0o600)
		}
		if err != nil {
			return d, err
		}
		d = pipeline.Delivery{ID: f.Name(), By: a.By, Target: ownTarget, SHA256: digest(text)}
	}
	d.State, d.At = pipeline.Delivered, now.UTC().Round(0)
	return d, f.note(d)
}

// claim makes delivery.json, which nobody has made yet.
func (f *Folder) claim(d pipeline.Delivery) error {
	root, name, err := f.in(deliveryFile)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := jsontime.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Create(root, name, append(text, '\n'), 0o600)
}

// note writes down how far a delivery is.
func (f *Folder) note(d pipeline.Delivery) error {
	text, err := jsontime.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return f.durably(deliveryFile, append(text, '\n'), 0o600)
}
