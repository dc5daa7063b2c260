package enginetest

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Must returns the value of a call that may not fail.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Second is the error of a call.
func Second[T any](_ T, err error) error { return err }

func Must2[A, B any](a A, b B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
}

// Refused is an error of the code, which says all the words.
func Refused(t testing.TB, err error, want refusal.Code, words ...string) {
	t.Helper()
	if refusal.CodeOf(err) != want {
		t.Fatalf("error %v (code %q), want code %q", err, refusal.CodeOf(err), want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// One is 1 for yes and 0 for no.
func One(is bool) int {
	if is {
		return 1
	}
	return 0
}
