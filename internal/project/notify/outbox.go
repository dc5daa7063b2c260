package notify

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// An Item is a notification that a person gets once.
type Item struct {
	ID      string // unique in the project
	Subject string // what it is about; a newer item of the same subject ends further tries of an older one
	Message
}

// An Outbox is the outbox of a project. Several processes may use it at the same time.
type Outbox struct {
	dir string // the folder of its files
	now func() time.Time
	at  func(point string) // tests end the process here
}

// OpenOutbox returns the outbox of the project at root. It writes nothing.
func OpenOutbox(root string) *Outbox {
	return &Outbox{dir: filepath.Join(root, ".ferrus", "live"), now: time.Now, at: func(string) {}}
}

// Send sends what is due. When another process is doing that, it leaves it to that process.
func (b *Outbox) Send(ctx context.Context, to Channels) error {
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
func (b *Outbox) sendAll(ctx context.Context, list []Channel) error {
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
func (b *Outbox) sendOne(ctx context.Context, e entry, list []Channel) error {
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
func (b *Outbox) Withdraw(subject string) error {
	r, err := b.read()
	if err != nil || !r.withdraw(subject) {
		return err
	}
	return b.update(func(r *record) bool { return r.withdraw(subject) })
}

// Test sends a message over every channel and returns what happened, in the order of the channels.
func (b *Outbox) Test(ctx context.Context, to Channels, m Message) ([]Failure, error) {
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
func (b *Outbox) Failures(to Channels) ([]Failure, error) {
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
