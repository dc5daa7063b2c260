// Package tokens stores the bearer tokens of HTTP clients. A token identifies a client by a name
// and a role.
//
// A secret is shown once, when it is created. The file tokens.json in .ferrus has only its SHA-256
// hash, with the role and the name, so that reading the file gives no access. The package does not
// decide what a role may do; the server does.
//
// The file is read for each request. It is refused if git tracks it or if the state was not made on this machine. A token that is
// revoked is refused from the next request on, and what it has open is ended within seconds.
package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Prefix starts every secret, so that people and secret scanners recognize one.
const Prefix = "ferrus_"

// Metrics is the role of a token that reads the numbers of the project, and may do nothing else.
const Metrics state.Role = "metrics"

// A Token describes a token. Nothing in it is secret.
type Token struct {
	ID      string     `json:"id"`   // public, such as tk-7f3a91
	Role    state.Role `json:"role"` // Supervisor, Executor or Metrics
	Name    string     `json:"name"` // of the agent that it is for; no two tokens of one role share it
	Created time.Time  `json:"created"`
	Expires time.Time  `json:"expires,omitzero"` // zero: never
}

// Expired reports whether the token has expired at now. At the instant Expires it has.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// who describes a token in a message.
func (t Token) who() string { return fmt.Sprintf("the token %s of %s %s", t.ID, t.Role, t.Name) }

// A Book has the tokens of one project. It reads the file each time, so changes of other processes
// are visible at once. Its methods are safe for concurrent use.
type Book struct {
	dir  string
	wait time.Duration // for the lock

	guard func() error // nil, or returns an error if the file must not be trusted

	mu   sync.Mutex
	text []byte // of the file when it was last parsed
	list []entry
}

// Open returns the tokens in dir, the project's .ferrus. It does not read the file yet.
func Open(dir string) *Book { return &Book{dir: dir, wait: 10 * time.Second} }

// Guarded makes the book call guard each time before it trusts the file. An error of guard,
// returned as one of kind ErrUnsafe, refuses every token. Guarded returns the book.
func (b *Book) Guarded(guard func() error) *Book {
	b.guard = guard
	return b
}

var (
	nameForm = safetext.NewForm(`^[0-9A-Za-z._-]*$`, 1, 64)
	idForm   = safetext.Lazily(`^tk-[0-9a-f]{6}$`)
	// spelling is base32 in small letters: a double click selects all of it, and no shell
	// interprets it.
	spelling = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// New creates a token and returns its secret, which is stored nowhere. A zero expires means never.
// The error is a refusal: of kind ErrInvalid for an invalid role, name or time, ErrTaken when the
// role already has a token of that name, expired or not, or one about the file.
func (b *Book) New(role state.Role, name string, expires time.Time) (secret string, t Token, err error) {
	now := time.Now()
	t = Token{Role: role, Name: name, Created: now.UTC().Truncate(time.Second)}
	if !expires.IsZero() {
		t.Expires = expires.UTC().Round(0)
	}
	switch {
	case !validRole(role):
		return "", Token{}, invalid(fmt.Sprintf("role %q", role), "supervisor, executor or metrics")
	case !validName(name):
		return "", Token{}, invalid(fmt.Sprintf("name %q", name),
			"1 to 64 letters, digits, dots, dashes and underscores, and not what an id looks like")
	case t.Expired(now) || t.Expires.Year() > 9999:
		return "", Token{}, invalid("expiry "+t.Expires.Format(time.RFC3339), "a time in the future, before the year 10000")
	}
	err = b.change(func(list []entry) ([]entry, error) {
		for _, e := range list {
			if e.Role == role && e.Name == name {
				return nil, refuse(ErrTaken, "there is "+e.who()+" already", refusal.Say("revoke it first: ferrus token revoke %s", e.ID))
			}
		}
		t.ID = freeID(list)
		secret = Prefix + spelling.EncodeToString(random(sha256.Size))
		return append(list, entry{Token: t, Hash: hash(secret)}), nil
	})
	if err != nil {
		return "", Token{}, err
	}
	return secret, t, nil
}

// List returns the tokens in the order of their creation, including expired ones.
func (b *Book) List() ([]Token, error) {
	list, err := b.read()
	if err != nil {
		return nil, err
	}
	all := make([]Token, len(list))
	for i, e := range list {
		all[i] = e.Token
	}
	return all, nil
}

// Revoke removes a token, named by its id, or by its name if only one has it, and returns it. From
// then on Verify refuses it. The error is a refusal of kind ErrUnknown or ErrAmbiguous, or one
// about the file.
func (b *Book) Revoke(idOrName string) (Token, error) {
	var gone Token
	err := b.change(func(list []entry) ([]entry, error) {
		var ids []string
		at := -1
		for i, e := range list {
			if e.ID == idOrName || e.Name == idOrName {
				at, ids = i, append(ids, e.ID+" ("+string(e.Role)+")")
			}
		}
		switch len(ids) {
		case 0:
			return nil, refuse(ErrUnknown, fmt.Sprintf("there is no token %q", idOrName), "ferrus token list shows them")
		case 1:
			gone = list[at].Token
			return slices.Delete(list, at, at+1), nil
		}
		return nil, refuse(ErrAmbiguous, fmt.Sprintf("%d tokens have the name %s", len(ids), idOrName), refusal.Say("name one of them by its id: %s", strings.Join(ids, " or ")))
	})
	if err != nil {
		return Token{}, err
	}
	return gone, nil
}

// Verify returns the token with this secret. The error is of kind ErrUnknown, or ErrExpired if the
// token has expired. Any other error is about the file and means that no token can be accepted. No
// error contains the secret.
func (b *Book) Verify(secret string, now time.Time) (Token, error) {
	list, err := b.read()
	if err != nil {
		return Token{}, err
	}
	shown, found := hash(secret), -1
	for i, e := range list { // all of them, so that the time reveals nothing about the position
		same := subtle.ConstantTimeCompare([]byte(e.Hash), []byte(shown))
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Token{}, ErrUnknown
	}
	t := list[found].Token
	if t.Expired(now) {
		return Token{}, refuse(ErrExpired, t.who()+" expired at "+t.Expires.Format(time.RFC3339), refusal.Say("revoke it and make another: ferrus token revoke %s", t.ID))
	}
	return t, nil
}

func validRole(r state.Role) bool {
	return r == state.Supervisor || r == state.Executor || r == Metrics
}

// validName refuses names that look like an id: Revoke takes either.
func validName(name string) bool { return nameForm.MatchString(name) && !idForm().MatchString(name) }

// freeID returns a random id that no token in the list has.
func freeID(list []entry) string {
	for {
		id := "tk-" + hex.EncodeToString(random(3))
		if !slices.ContainsFunc(list, func(e entry) bool { return e.ID == id }) {
			return id
		}
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: it ends the program instead
	return b
}

// hash returns the stored hash of a secret. It needs no salt and no slow function: the secret has
// 256 random bits.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
