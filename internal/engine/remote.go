package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/document"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A remote session is that of a caller without a process to watch, who came over the network with a token. Its claim is
// its identity: a random secret that wait_for_task hands out and every later call brings along. The journal has only a
// digest of it, bound to the token, so that two clients which share a token are two holders, and a claim that somebody
// has read is of no use to another token. Its lease lasts max_silence_secs from the last call that named the claim.

// remoteMark begins the id of every remote session.
const remoteMark = "h-"

// Remote opens a session for a caller who proved the token of that id. claim is what the caller named, "" when nothing;
// the error is a *refusal.RefusedError of code NotClaimed for one that is no claim at all.
func (e *Engine) Remote(c Caller, token, claim string) (*Session, error) {
	secret, epoch, err := readClaim(claim)
	if err != nil {
		return nil, err
	}
	switch {
	case secret != "":
	case c.Role == state.Executor:
		secret = rand.Text()
	default:
		secret = "-" // a supervisor claims nothing, and is known by its token alone
	}
	s := e.Session(c)
	sum := sha256.Sum256([]byte(token + "\x00" + secret))
	s.ID = remoteMark + hex.EncodeToString(sum[:16])
	s.token, s.secret, s.epoch = token, secret, epoch
	return s, nil
}

// remote reports whether there is no process behind a session.
func remote(session string) bool { return strings.HasPrefix(session, remoteMark) }

// OverHTTP reports whether a session, by its id as the journal has it, was that of a caller over the network.
func OverHTTP(session string) bool { return remote(session) }

// Claim is what a call must name to be the holder's: the claim of a remote session, else the session's id, which nobody
// needs to name. It is "" for a remote session that holds nothing.
func (s *Session) Claim() string {
	if !remote(s.ID) {
		return s.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == 0 {
		return ""
	}
	return fmt.Sprintf("c%d-%s", s.epoch, s.secret)
}

// With returns the session that a call means which came over s and names a claim. The error is a *refusal.RefusedError of code
// NotClaimed when s cannot be that one.
func (s *Session) With(claim string) (*Session, error) {
	if claim == s.Claim() {
		return s, nil
	}
	if !remote(s.ID) || s.Role != state.Executor {
		return nil, &refusal.RefusedError{Code: refusal.NotClaimed, Message: "claim " + document.Clip(claim, 40) + " is not this connection's",
			Remedy: "leave claim out, or call wait_for_task for a new one"}
	}
	return s.e.Remote(s.Caller, s.token, claim)
}

// readClaim reads what Claim wrote.
func readClaim(claim string) (secret string, epoch uint64, err error) {
	if claim == "" {
		return "", 0, nil
	}
	number, secret, ok := strings.Cut(strings.TrimPrefix(claim, "c"), "-")
	epoch, err = strconv.ParseUint(number, 10, 64)
	if !ok || err != nil || epoch == 0 || secret == "" || !strings.HasPrefix(claim, "c") {
		return "", 0, &refusal.RefusedError{Code: refusal.NotClaimed, Message: "claim " + document.Clip(claim, 40) + " is none that wait_for_task has handed out",
			Remedy: "name the claim as wait_for_task gave it, or call wait_for_task without one"}
	}
	return secret, epoch, nil
}
