package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// A result is delivered once. The sender takes the lock, creates delivery.json, which can be
// created only once, records that it is sending, sends, and records that it has delivered. After a
// crash the record says how far it came: claimed means not sent, and another sender may take over.
// Sending means that it may have been sent; if that cannot be verified, ferrus asks a person.

// Errors of a delivery that must not happen.
var (
	ErrSent  = errors.New("the result was already sent")
	ErrBusy  = errors.New("another sender is sending the result now")
	ErrDoubt = errors.New("it is unknown whether the result was sent")
)

// forestalled reports whether the error means that another sender was faster.
func forestalled(err error) bool {
	return errors.Is(err, ErrSent) || errors.Is(err, ErrBusy) || errors.Is(err, ErrDoubt)
}

// Senders other than workers.
const (
	byFerrus   = "ferrus"
	byWatchdog = "watchdog"
)

// deliver executes a verb about the delivery, and reports whether the result is delivered now. The
// error is ErrSent, ErrBusy or ErrDoubt if another sender was faster; then nothing was done.
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
		l.Tell = fmt.Sprintf("Pipeline %s: the result may have been sent to %s; this is unknown. Check whether it arrived; then ferrus pipeline deliver --confirm, or --again.", name, d.Target)
	case d.State == pipeline.Delivered && l.Tell == "":
		l.Tell = fmt.Sprintf("Pipeline %s: the result is delivered to %s.", name, d.Target)
	}
	return d.State == pipeline.Delivered && a.Do != pipeline.Settle, nil
}

// result returns the text that an action delivers.
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

// sender takes the lock of senders. The error is ErrBusy when another sender has it.
func (f *Folder) sender() (*filelock.Lock, error) {
	lock, err := f.hold(deliveryLock)
	if errors.Is(err, filelock.ErrHeld) {
		err = ErrBusy
	}
	return lock, err
}

// send sends the result, unless it was or may have been sent. again sends it although it may have
// been sent.
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

// transmit sends a claimed result and records the outcome.
func (f *Folder) transmit(ctx context.Context, o Options, t target, d pipeline.Delivery, text []byte) (pipeline.Delivery, error) {
	d.State = pipeline.Sending
	if err := f.note(d); err != nil {
		return d, err
	}
	o.at("before send")
	if err := t.send(ctx, f, o, by(d), text); err != nil {
		d.State = pipeline.Uncertain
		if t.repeats() { // nothing left this machine
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

// by reports whether a worker delivers.
func by(d pipeline.Delivery) bool { return !slices.Contains([]string{byFerrus, byWatchdog}, d.By) }

// verify finds out whether a dead sender has sent the result. If that is not possible, the delivery
// is uncertain.
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

// confirm records that a person saw the result arrive or, if the action names the file of the
// result, that the worker a.By has sent it.
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

// claim creates delivery.json, which must not exist yet.
func (f *Folder) claim(d pipeline.Delivery) error {
	root, name, err := f.in(deliveryFile)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := jsonx.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Create(root, name, append(text, '\n'), 0o600)
}

// note records how far a delivery is.
func (f *Folder) note(d pipeline.Delivery) error {
	text, err := jsonx.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return f.durably(deliveryFile, append(text, '\n'), 0o600)
}
