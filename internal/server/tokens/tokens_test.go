package tokens

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

var never time.Time

func book(t *testing.T) *Book { return Open(t.TempDir()) }

// made makes a token that must be possible.
func made(t testing.TB, b *Book, role state.Role, name string, expires time.Time) (string, Token) {
	t.Helper()
	secret, tok, err := b.New(role, name, expires)
	if err != nil {
		t.Fatal(err)
	}
	return secret, tok
}

// kind fails unless err is of the kind and, where it is a refusal, says something and what helps.
func kind(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	var e *refusal.RefusedError
	if errors.As(err, &e) && (e.Message == "" || e.Remedy == "") {
		t.Errorf("an error without words: %+v", e)
	}
}

func TestASecretIsKnownByItsHashAlone(t *testing.T) {
	t.Parallel()
	b := book(t)
	secret, tok := made(t, b, state.Executor, "ci-1", never)
	if !regexp.MustCompile(`^ferrus_[a-z2-7]{52}$`).MatchString(secret) || !idForm().MatchString(tok.ID) {
		t.Errorf("%q, %q", secret, tok.ID)
	}
	if tok.Role != state.Executor || tok.Name != "ci-1" || !tok.Expires.IsZero() || time.Since(tok.Created) > time.Minute {
		t.Errorf("%+v", tok)
	}
	got, err := b.Verify(secret, time.Now())
	if err != nil || !cmp.Equal(got, tok) {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := os.ReadFile(b.path(fileName))
	if err != nil || strings.Contains(string(text), strings.TrimPrefix(secret, Prefix)) || !strings.Contains(string(text), hash(secret)) {
		t.Errorf("%v\n%s", err, text)
	}
	// The hash opens nothing, nor does anything near the secret.
	for _, no := range []string{"", Prefix, hash(secret), tok.ID, secret[:len(secret)-1], secret + "a", " " + secret,
		strings.ToUpper(secret), strings.TrimPrefix(secret, Prefix), secret + "\x00"} {
		got, err := b.Verify(no, time.Now())
		kind(t, err, ErrUnknown)
		if got != (Token{}) || strings.Contains(err.Error(), secret[7:20]) {
			t.Errorf("%q: %+v, %v", no, got, err)
		}
	}
}

func TestTheSecondOfTwoIsKnownToo(t *testing.T) {
	t.Parallel()
	b := book(t)
	for _, role := range []state.Role{state.Supervisor, state.Executor} {
		made(t, b, role, "a", never)
	}
	secret, tok := made(t, b, state.Executor, "b", never)
	made(t, b, state.Executor, "c", never)
	if got, err := b.Verify(secret, time.Now()); err != nil || got != tok {
		t.Errorf("%+v, %v", got, err)
	}
	list, err := b.List()
	if err != nil || len(list) != 4 || list[0].Role != state.Supervisor || list[3].Name != "c" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestWhatATokenCannotBe(t *testing.T) {
	t.Parallel()
	b := book(t)
	later := time.Now().Add(time.Hour)
	made(t, b, state.Executor, "taken", later)
	for _, c := range []struct {
		role    state.Role
		name    string
		expires time.Time
		want    error
	}{
		{state.Executor, "taken", never, ErrTaken},
		{state.Supervisor, "taken", never, nil},
		{state.Executor, "Taken", never, nil},
		{state.Executor, "a.b-c_D9", never, nil},
		{state.Executor, strings.Repeat("n", 64), never, nil},
		{state.Executor, strings.Repeat("n", 65), never, ErrInvalid},
		{state.Executor, "", never, ErrInvalid},
		{state.Executor, "a b", never, ErrInvalid},
		{state.Executor, "a\n", never, ErrInvalid},
		{state.Executor, "a/b", never, ErrInvalid},
		{state.Executor, "é", never, ErrInvalid},
		{state.Executor, "tk-7f3a91", never, ErrInvalid},
		{state.Executor, "tk-7f3a9", never, nil},
		{"", "r", never, ErrInvalid},
		{state.Human, "r", never, ErrInvalid},
		{state.Holder, "r", never, ErrInvalid},
		{state.Engine, "r", never, ErrInvalid},
		{"Executor", "r", never, ErrInvalid},
		{state.Executor, "past", time.Now().Add(-time.Nanosecond), ErrInvalid},
		{state.Executor, "distant", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), ErrInvalid},
		{state.Executor, "late", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil},
	} {
		before, _ := os.ReadFile(b.path(fileName))
		secret, tok, err := b.New(c.role, c.name, c.expires)
		if kind(t, err, c.want); c.want == nil {
			continue
		}
		after, _ := os.ReadFile(b.path(fileName))
		if secret != "" || tok != (Token{}) || string(before) != string(after) {
			t.Errorf("%s %q: refused, and yet %q %+v", c.role, c.name, secret, tok)
		}
	}
}

func TestATokenIsGoodUntilTheInstantItExpires(t *testing.T) {
	t.Parallel()
	b := book(t)
	at := time.Now().Add(time.Hour).In(time.FixedZone("east", 3*3600)) // with nanoseconds, and a clock of its own
	secret, tok := made(t, b, state.Supervisor, "s", at)
	if !tok.Expires.Equal(at) {
		t.Errorf("%v, not %v", tok.Expires, at)
	}
	if got, err := b.Verify(secret, at.Add(-1)); err != nil || got != tok {
		t.Errorf("a nanosecond before: %+v, %v", got, err)
	}
	for _, now := range []time.Time{at, at.UTC(), at.Add(1), at.AddDate(10, 0, 0)} {
		got, err := b.Verify(secret, now)
		kind(t, err, ErrExpired)
		if got != (Token{}) || !strings.Contains(err.Error(), tok.ID) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if list, err := b.List(); err != nil || len(list) != 1 || !list[0].Expired(at) || list[0].Expired(at.Add(-1)) {
		t.Errorf("%v, %v", list, err)
	}
	forever, _ := made(t, b, state.Supervisor, "forever", never)
	if _, err := b.Verify(forever, at.AddDate(1000, 0, 0)); err != nil {
		t.Error(err)
	}
}

func TestARevokedTokenIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	mine := book(t)
	others := Open(mine.dir) // as another process has it
	for i := range 20 {
		secret, tok := made(t, others, state.Executor, "x", never)
		if got, err := mine.Verify(secret, time.Now()); err != nil || got != tok {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
		gone, err := others.Revoke([]string{"x", tok.ID}[i%2])
		if err != nil || gone != tok {
			t.Fatalf("%d: %+v, %v", i, gone, err)
		}
		_, err = mine.Verify(secret, time.Now())
		kind(t, err, ErrUnknown)
	}
	// Nor does the file's date tell: the same size, the same time, in the same place.
	secret, tok := made(t, others, state.Executor, "x", never)
	text, err := os.ReadFile(mine.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(mine.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Verify(secret, time.Now()); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), hash(secret), hash("another"), 1)
	if err := os.WriteFile(mine.path(fileName), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(mine.path(fileName), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	_, err = mine.Verify(secret, time.Now())
	kind(t, err, ErrUnknown)
	if got, err := mine.Verify("another", time.Now()); err != nil || got != tok {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRevokeNamesOneToken(t *testing.T) {
	t.Parallel()
	b := book(t)
	_, err := b.Revoke("a")
	kind(t, err, ErrUnknown)
	_, s := made(t, b, state.Supervisor, "a", never)
	_, e := made(t, b, state.Executor, "a", never)
	_, err = b.Revoke("a")
	if kind(t, err, ErrAmbiguous); !strings.Contains(err.Error(), s.ID+" (supervisor) or "+e.ID+" (executor)") {
		t.Error(err)
	}
	if gone, err := b.Revoke(s.ID); err != nil || gone != s {
		t.Errorf("%+v, %v", gone, err)
	}
	if gone, err := b.Revoke("a"); err != nil || gone != e {
		t.Errorf("%+v, %v", gone, err)
	}
	if list, err := b.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, no := range []string{"", "a", s.ID, "tk-"} {
		_, err = b.Revoke(no)
		kind(t, err, ErrUnknown)
	}
}

func TestNoFileIsNoTokens(t *testing.T) {
	t.Parallel()
	b := book(t)
	if list, err := b.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	_, err := b.Verify("ferrus_x", time.Now())
	kind(t, err, ErrUnknown)
	if names, _ := filepath.Glob(b.path("*")); len(names) > 0 {
		t.Errorf("looking has made %v", names)
	}
	b = Open(filepath.Join(b.dir, "missing"))
	_, _, err = b.New(state.Executor, "a", never)
	kind(t, err, ErrDisk)
}

func TestATokenSaysNothingSecret(t *testing.T) {
	t.Parallel()
	b := book(t)
	secret, tok := made(t, b, state.Executor, "a", never)
	list, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%#v %#v", tok, list); strings.Contains(text, secret[7:]) || strings.Contains(text, hash(secret)) {
		t.Error(text)
	}
}

func BenchmarkVerify(b *testing.B) {
	book := Open(b.TempDir())
	var secret string
	for i := range 20 {
		secret, _ = made(b, book, state.Executor, fmt.Sprint("agent-", i), never)
	}
	for b.Loop() {
		if _, err := book.Verify(secret, never); err != nil {
			b.Fatal(err)
		}
	}
}
