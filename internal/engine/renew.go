package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// Heartbeat renews the lease of the session that holds the work.
func (s *Session) Heartbeat(ctx context.Context) (store.Snapshot, error) {
	s.called()
	snap, err := s.e.store.Renew(ctx, func(now store.Snapshot) (store.Lease, error) {
		if term, err := s.renewal(now); err == nil {
			return term, nil
		}
		if err := s.checkEpoch(now); err != nil {
			return store.Lease{}, err
		}
		return store.Lease{}, &refusal.RefusedError{Code: refusal.NotClaimed, Message: "this session holds no work",
			Remedy: "call wait_for_task to claim some"}
	})
	return snap, refusal.From(s.explain(err))
}

// renewal is the lease of the session that holds the work, from now on; errHeld for any other.
func (s *Session) renewal(now store.Snapshot) (store.Lease, error) {
	if !s.Holds(now.Task) {
		return now.Lease, errHeld
	}
	return s.e.grant(s.ID), nil
}

// Touch notes that the client has called: the server goes on renewing for a client that does. A lease that ran out
// meanwhile, and that nobody has taken over, is renewed at once. For a remote session there is nobody who goes on: its
// calls are what renews.
func (s *Session) Touch() {
	epoch := s.called()
	if epoch == 0 {
		return
	}
	spare := s.spare()
	runsOut := func(now store.Snapshot) bool { return now.Lease.Term.Left(s.e.opts.Clock()) <= spare }
	if last, ok := s.e.store.Last(); ok && s.Holds(last.Task) && !runsOut(last) {
		return // and what was written since has made it no shorter
	}
	if snap, err := s.e.store.View(); err == nil && s.Holds(snap.Task) && runsOut(snap) {
		s.e.keep(s, epoch, time.Minute)
	}
}

// spare is how much of a lease may be left for a call to renew it.
func (s *Session) spare() time.Duration {
	if !live.IsSession(s.ID) {
		return 0
	}
	conf, _ := s.e.Config()
	return max(0, conf.Lease.MaxSilence()-conf.Lease.Heartbeat())
}

// called notes the time of a call and returns the epoch under which the session last held the work.
func (s *Session) called() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = s.e.opts.Clock().Nanos
	return s.epoch
}

// keepAlive renews the lease of a session in the background as long as it holds the work and its client has called
// within max_silence_secs: the model never has to remember.
func (e *Engine) keepAlive(s *Session) {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	go func() {
		for {
			conf, _ := e.Config()
			select {
			case <-e.ctx.Done():
				return
			case <-time.After(conf.Lease.Heartbeat()):
			}
			if !e.keep(s, epoch, conf.Lease.MaxSilence()) {
				return
			}
		}
	}()
}

// keep renews the lease once, unless the client has been silent for longer than that. It reports whether there is
// anything left to keep.
func (e *Engine) keep(s *Session, epoch uint64, maxSilence time.Duration) bool {
	s.mu.Lock()
	silent, moved := time.Duration(e.opts.Clock().Nanos-s.last), s.epoch != epoch
	s.mu.Unlock()
	if moved || silent > maxSilence {
		return !moved
	}
	_, err := e.store.Renew(e.ctx, s.renewal)
	if errors.Is(err, errHeld) {
		return false
	}
	if err != nil && e.ctx.Err() == nil {
		e.log.Warn("lease not renewed", "agent", s.Agent, "error", err)
	}
	return true
}
