package engine

import (
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// Remote opens a session for a caller who proved the token of that id; see package remote. Its lease lasts max_silence_secs
// from the last call that named the claim. claim is what the caller named, "" when nothing;
// the error is a *refusal.RefusedError of code NotClaimed for one that is no claim at all.
func (e *Engine) Remote(c Caller, token, claim string) (*Session, error) {
	secret, epoch, err := live.ReadClaim(claim)
	if err != nil {
		return nil, err
	}
	switch {
	case secret != "":
	case c.Role == state.Executor:
		secret = live.NewSecret()
	default:
		secret = "-" // a supervisor claims nothing, and is known by its token alone
	}
	s := e.Session(c)
	s.ID = live.SessionID(token, secret)
	s.token, s.secret, s.epoch = token, secret, epoch
	return s, nil
}

// Claim is what a call must name to be the holder's: the claim of a remote session, else the session's id, which nobody
// needs to name. It is "" for a remote session that holds nothing.
func (s *Session) Claim() string {
	if !live.IsSession(s.ID) {
		return s.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == 0 {
		return ""
	}
	return live.Claim(s.epoch, s.secret)
}

// With returns the session that a call means which came over s and names a claim. The error is a *refusal.RefusedError of code
// NotClaimed when s cannot be that one.
func (s *Session) With(claim string) (*Session, error) {
	if claim == s.Claim() {
		return s, nil
	}
	if !live.IsSession(s.ID) || s.Role != state.Executor {
		return nil, &refusal.RefusedError{Code: refusal.NotClaimed, Message: "claim " + format.OneLine(claim, 40) + " is not this connection's",
			Remedy: "leave claim out, or call wait_for_task for a new one"}
	}
	return s.e.Remote(s.Caller, s.token, claim)
}
