// Package outbox tells the person of a project what needs them, over the channels of [notify].
//
// Each item is recorded before it is sent, and each channel is recorded after it accepted the item.
// So every channel gets each item at least once, whatever is killed, and never again once that is
// recorded. A kill between the two repeats an item; its text has its ID. A channel that fails is
// tried again later, a few times.
//
// Callers decide what an item is. Package notify reaches the person.
package outbox

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/project/notify"
)

// An Item is a notification that a person gets once.
type Item struct {
	ID      string // unique in the project
	Subject string // what it is about; a newer item of the same subject ends further tries of an older one
	notify.Message
}

// A Box is the outbox of a project. Several processes may use it at the same time.
type Box struct {
	dir string // the folder of its files
	now func() time.Time
	at  func(point string) // tests end the process here
}

// Open returns the outbox of the project at root. It writes nothing.
func Open(root string) *Box {
	return &Box{dir: filepath.Join(root, ".ferrus", "live"), now: time.Now, at: func(string) {}}
}

// Send sends what is due. When another process is doing that, it leaves it to that process.
func (b *Box) Send(ctx context.Context, to notify.Channels) error {
	list := to.List()
	for len(list) > 0 {
		r, err := b.read()
		if err != nil || r.due(list, b.now()) == nil {
			return err
		}
		lock, err := b.lock(sendingLock, filelock.Take)
		if errors.Is(err, filelock.ErrHeld) {
			return nil // it looks again after it has released the lock
		}
		if err != nil {
			return err
		}
		err = b.sendAll(ctx, list)
		if err = errors.Join(err, lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sendAll sends item by item, until none is due. The caller holds the lock.
func (b *Box) sendAll(ctx context.Context, list []notify.Channel) error {
	for ctx.Err() == nil {
		r, err := b.read()
		if err != nil {
			return err
		}
		e := r.due(list, b.now())
		if e == nil {
			return nil
		}
		if err := b.sendOne(ctx, *e, list); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sendOne sends an item over all channels that lack it, at the same time, and records each as it
// ends.
func (b *Box) sendOne(ctx context.Context, e entry, list []notify.Channel) error {
	type result struct {
		name string
		err  error
	}
	results, sending := make(chan result), sync.WaitGroup{}
	for _, ch := range list {
		if e.owes(ch.Name, b.now()) {
			sending.Go(func() { results <- result{ch.Name, ch.Send(ctx, *e.Message)} })
		}
	}
	go func() { sending.Wait(); close(results) }()
	var errs []error
	for res := range results {
		b.at("sent")
		errs = append(errs, b.update(func(r *record) bool {
			r.note(res.name, res.err, b.now())
			r.mark(e.ID, res.name, res.err, b.now())
			r.settle(e.ID, list)
			return true
		}))
		b.at("recorded")
	}
	return errors.Join(errs...)
}

// Withdraw drops what was not sent yet about a subject: it needs nobody any longer.
func (b *Box) Withdraw(subject string) error {
	r, err := b.read()
	if err != nil || !r.withdraw(subject) {
		return err
	}
	return b.update(func(r *record) bool { return r.withdraw(subject) })
}

// Test sends a message over every channel and returns what happened, in the order of the channels.
func (b *Box) Test(ctx context.Context, to notify.Channels, m notify.Message) ([]Failure, error) {
	var out []Failure
	for _, ch := range to.List() {
		err := ch.Send(ctx, m)
		out = append(out, failure(ch.Name, err, b.now()))
		if err := b.update(func(r *record) bool { r.note(ch.Name, err, b.now()); return true }); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Failures returns the channels that failed when they were used last, in their order.
func (b *Box) Failures(to notify.Channels) ([]Failure, error) {
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	var out []Failure
	for _, ch := range to.List() {
		if f, ok := r.Failures[ch.Name]; ok {
			out = append(out, f)
		}
	}
	return out, nil
}
