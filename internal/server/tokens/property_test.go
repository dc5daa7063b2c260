package tokens

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A model is what a book should be: the tokens in their order, and the secrets of all that there ever were.
type model struct {
	tokens  []Token
	secrets map[string]Token
	order   []string // of the secrets: they are random, and must not decide what is drawn
}

// TestTheBookIsTheModel makes, revokes and shows tokens at random, by two books of one folder, and fails if one of the
// outcomes was never reached: each case is long enough for all of them, so that this does not hang on luck.
func TestTheBookIsTheModel(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	reached := map[string]int{}
	begin := time.Now()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(home, "")
		if err != nil {
			r.Fatal(err)
		}
		books := []*Book{Open(dir), Open(dir)}
		m := model{secrets: map[string]Token{}}
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		for range rapid.IntRange(40, 60).Draw(r, "moves") {
			b := rapid.SampledFrom(books).Draw(r, "book")
			switch rapid.IntRange(0, 4).Draw(r, "move") {
			case 0, 1:
				m.make(r, b, reached, names.Draw(r, "name"), begin)
			case 2:
				m.revoke(r, b, reached, names.Draw(r, "name"))
			default:
				m.show(r, b, reached, begin)
			}
			if list, err := b.List(); err != nil || !slices.Equal(list, m.tokens) {
				r.Fatalf("%v (%v), not %v", list, err, m.tokens)
			}
		}
	})
	for _, what := range []string{"made", "taken", "revoked by name", "revoked by id", "ambiguous", "nobody to revoke", "known", "expired", "gone", "forged"} {
		if reached[what] == 0 {
			t.Errorf("never reached: %s", what)
		}
	}
}

func (m *model) make(r *rapid.T, b *Book, reached map[string]int, name string, begin time.Time) {
	role := rapid.SampledFrom([]state.Role{state.Supervisor, state.Executor}).Draw(r, "role")
	var expires time.Time
	if h := rapid.IntRange(0, 3).Draw(r, "hours"); h > 0 {
		expires = begin.Add(time.Duration(h) * time.Hour)
	}
	taken := slices.ContainsFunc(m.tokens, func(t Token) bool { return t.Role == role && t.Name == name })
	secret, tok, err := b.New(role, name, expires)
	if taken {
		reached["taken"]++
		if !errors.Is(err, ErrTaken) || secret != "" {
			r.Fatalf("made twice: %v", err)
		}
		return
	}
	reached["made"]++
	if _, old := m.secrets[secret]; err != nil || old || tok.Role != role || tok.Name != name || !tok.Expires.Equal(expires) {
		r.Fatalf("%+v, %v", tok, err)
	}
	m.tokens = append(m.tokens, tok)
	m.secrets[secret] = tok
	m.order = append(m.order, secret)
}

func (m *model) revoke(r *rapid.T, b *Book, reached map[string]int, name string) {
	means := func(t Token) bool { return t.Name == name }
	how := "revoked by name"
	if len(m.tokens) > 0 && rapid.Bool().Draw(r, "by id") {
		id := rapid.SampledFrom(m.tokens).Draw(r, "token").ID
		name, how = id, "revoked by id"
		means = func(t Token) bool { return t.ID == id }
	}
	var meant []Token
	for _, t := range m.tokens {
		if means(t) {
			meant = append(meant, t)
		}
	}
	gone, err := b.Revoke(name)
	want := map[int]error{0: ErrUnknown, 2: ErrAmbiguous}[len(meant)]
	if !errors.Is(err, want) {
		r.Fatalf("revoke %s of %v: %v", name, meant, err)
	}
	if want != nil {
		reached[map[error]string{ErrUnknown: "nobody to revoke", ErrAmbiguous: "ambiguous"}[want]]++
		return
	}
	reached[how]++
	if gone != meant[0] {
		r.Fatalf("%v instead of %v", gone, meant[0])
	}
	m.tokens = slices.DeleteFunc(m.tokens, means)
}

func (m *model) show(r *rapid.T, b *Book, reached map[string]int, begin time.Time) {
	now := begin.Add(time.Duration(rapid.IntRange(0, 4).Draw(r, "now")) * time.Hour)
	secret := "ferrus_" + fmt.Sprint(len(m.secrets))
	if len(m.secrets) > 0 && rapid.IntRange(0, 9).Draw(r, "forge") > 0 {
		secret = rapid.SampledFrom(m.order).Draw(r, "secret")
	}
	tok, ever := m.secrets[secret]
	got, err := b.Verify(secret, now)
	switch {
	case !ever:
		reached["forged"]++
		if !errors.Is(err, ErrUnknown) {
			r.Fatalf("forged: %+v, %v", got, err)
		}
	case !slices.Contains(m.tokens, tok):
		reached["gone"]++
		if !errors.Is(err, ErrUnknown) {
			r.Fatalf("revoked: %+v, %v", got, err)
		}
	case !tok.Expires.IsZero() && !now.Before(tok.Expires):
		reached["expired"]++
		if !errors.Is(err, ErrExpired) || got != (Token{}) {
			r.Fatalf("expired: %+v, %v", got, err)
		}
	default:
		reached["known"]++
		if err != nil || got != tok {
			r.Fatalf("%+v, %v, not %+v", got, err, tok)
		}
	}
}
