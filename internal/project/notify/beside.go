package notify

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// Patience is how long the end of a command waits for services that have not answered.
const Patience = 3 * time.Second

// errCut is why a message was not sent that was under way when its command ended.
var errCut = errors.New("no answer before the command ended; the next run, step or tick sends it again")

// Post records an item and sends it beside the work of this process, with whatever else is due; [Finish] waits for that. It does
// nothing without channels. The error is about the record. failed gets one that occurs later.
func (b *Outbox) Post(to Channels, item Item, failed func(error)) error {
	if len(to.List()) == 0 {
		return nil
	}
	if err := b.update(func(r *record) bool { return r.put(item, b.now()) }); err != nil {
		return err
	}
	b.at("put")
	b.SendBeside(to, failed)
	return nil
}

// SendBeside sends what is due beside the work of this process; [Finish] waits for that. failed gets an error of the record.
func (b *Outbox) SendBeside(to Channels, failed func(error)) {
	beside.start(func(ctx context.Context) {
		if err := b.Send(ctx, to); err != nil && ctx.Err() == nil {
			failed(err)
		}
	})
}

// Finish waits until everything is sent that this process sends beside its work, at most [Patience] and until ctx ends. What is not
// sent then stays in the outbox, and is due at once.
func Finish(ctx context.Context) { beside.finish(ctx) }

// beside is one for the process: the end of the process waits for all that its parts send.
var beside sends

// sends are what goes on beside the work of a process.
type sends struct {
	mu   sync.Mutex
	open map[chan struct{}]context.CancelCauseFunc // each is closed when it has ended
}

func (s *sends) start(send func(context.Context)) {
	ctx, cut := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[chan struct{}]context.CancelCauseFunc{}
	}
	s.open[done] = cut
	go func() {
		send(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, done)
		close(done)
		cut(nil)
	}()
}

func (s *sends) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	s.mu.Lock()
	open := maps.Clone(s.open)
	s.mu.Unlock()
	for done := range open {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	for done, cut := range open {
		cut(errCut)
		<-done // it records that it was cut
	}
}
