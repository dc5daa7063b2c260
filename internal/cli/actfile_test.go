package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/status"
)

// TestATextOfARunIsNoArgument: 200 kB are too long for one, and other users could read it. What is no text stays.
func TestATextOfARunIsNoArgument(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := strings.Repeat("x", 200_000)
	args := []string{"--root", "/p", "run", "--headless", "--", long}
	f, err := textFile(args)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != long || strings.Join(args, " ") != "--root /p run --headless -- -" {
		t.Errorf("%v: %d bytes, %.80v", err, len(text), args)
	}
	if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if f, err := textFile([]string{"resume", "--headless"}); f != nil || err != nil {
		t.Error(f, err)
	}
}

// TestTheOutcomeOfACommandHasItsErrorAsValues, beside what it printed, whatever it said on stderr before.
func TestTheOutcomeOfACommandHasItsErrorAsValues(t *testing.T) {
	const failure = `{"code":"wrong_state","message":"cannot merge docs: it is not approved","remedy":"ferrus status\nferrus diff"}`
	for name, c := range map[string]struct {
		code      int
		out, errs string
		want      status.Outcome
	}{
		"success":             {0, "merged\n", "a warning\n", status.Outcome{Text: "merged"}},
		"refusal":             {3, "", failure + "\n", status.Outcome{Exit: 3, Message: "cannot merge docs: it is not approved", Remedy: "ferrus status\nferrus diff"}},
		"with a warning":      {3, "looked\n", "a warning\n" + failure + "\n", status.Outcome{Exit: 3, Message: "cannot merge docs: it is not approved", Remedy: "ferrus status\nferrus diff", Text: "a warning\nlooked"}},
		"it has said it":      {6, "b waits for you\n  ferrus answer\n", "", status.Outcome{Exit: 6, Message: "b waits for you", Text: "  ferrus answer"}},
		"a panic":             {2, "", "panic: no\n\ngoroutine 1", status.Outcome{Exit: 2, Message: "panic: no", Text: "\ngoroutine 1"}},
		"JSON that is no one": {1, "", "{}\n", status.Outcome{Exit: 1, Message: "{}"}},
		"with values": {4, "", `{"code":"untrusted","message":"nobody has agreed","values":[{"key":"checks.commands","value":"make","does":"it is run"}]}`,
			status.Outcome{Exit: 4, Message: "nobody has agreed", Text: "checks.commands = make\n      it is run"}},
	} {
		if diff := cmp.Diff(c.want, outcome(c.code, c.out, c.errs)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
