package web

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// TestOutputIsReadByWholeLines from any offset: each line is shown once, whatever the pieces are, and an unfinished one waits.
func TestOutputIsReadByWholeLines(t *testing.T) {
	t.Parallel()
	const all = "first\nse\u202econd <b>\nthird\nunfinished"
	for size := 0; size <= len(all); size++ {
		in := agents.ReaderOf("command")
		text, at, err := words(strings.NewReader(all[:size]), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		rest, at, err := words(strings.NewReader(all), in, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := text + rest; got != "first\nse<U+202E>cond <b>\nthird\n" || at != int64(strings.Index(all, "unf")) {
			t.Errorf("cut at %d: %q up to %d", size, got, at)
		}
	}
	for from, want := range map[int64]string{1: "se<U+202E>cond <b>\nthird\n", 5: "se<U+202E>cond <b>\nthird\n", 6: "se<U+202E>cond <b>\nthird\n", 7: "third\n"} {
		got, _, err := words(strings.NewReader(all), agents.ReaderOf("command"), from)
		if err != nil || got != want {
			t.Errorf("from %d: %q, %v", from, got, err)
		}
	}
	long := strings.Repeat("x", 5*tailSize)
	if got, at, err := words(strings.NewReader(long), agents.ReaderOf("command"), 0); err != nil || at == 0 || got != "" && !strings.HasPrefix(got, "xx") {
		t.Errorf("a long line: %d bytes up to %d, %v", len(got), at, err)
	}
}
