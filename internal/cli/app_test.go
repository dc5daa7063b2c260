package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestEveryRefusalHasItsExitCodeAndARemedy: a code without an entry would be a plain failure without anybody having decided
// so, and an error without a remedy leaves its reader alone.
func TestEveryRefusalHasItsExitCodeAndARemedy(t *testing.T) {
	want := map[refusal.Code]int{refusal.WrongState: 3, refusal.ForbiddenRole: 4, refusal.NotClaimed: 3, refusal.LeaseLost: 3,
		refusal.StaleReview: 1, refusal.CheckRunning: 3, refusal.DelegatesRunning: 3, refusal.TreeChanged: 1, refusal.InvalidInput: 2, refusal.TooLarge: 2,
		refusal.LockBusy: 7, refusal.StoreError: 1, refusal.StoreGone: 1, refusal.OutcomeUnknown: 1, refusal.InternalTimeout: 5, refusal.Corrupt: 8,
		refusal.NotInitialised: 3, refusal.UnknownBranch: 3, refusal.ConfigChanged: 6, refusal.Conflict: 6, refusal.Untrusted: 4, refusal.ForeignState: 8}
	if diff := cmp.Diff(want, exits); diff != "" {
		t.Error(diff)
	}
	for code, exit := range want {
		err := fmt.Errorf("on the way: %w", &refusal.RefusedError{Code: code, Message: "m"})
		if got := Explain(err).Exit; got != exit {
			t.Errorf("%s exits with %d, not %d", code, got, exit)
		}
		if Explain(CannotDo("go on", "", err)).Remedy == "" {
			t.Errorf("%s has no remedy", code)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, &refusal.RefusedError{Code: refusal.StoreError},
		CobraError(&cobra.Command{Use: "ferrus"}, io.EOF), &refusal.RefusedError{Wrong: &state.RefusedError{State: state.Failed, Event: state.Answer}}} {
		if Explain(CannotDo("go on", "", err)).Remedy == "" {
			t.Errorf("%v has no remedy", err)
		}
	}
}

// TestARefusedVerbNamesTheStatesItNeeds, and they are those of the table.
func TestARefusedVerbNamesTheStatesItNeeds(t *testing.T) {
	for ev, want := range map[state.Event][]string{
		state.CreateTask: {"Idle", "Complete"},
		state.Answer:     {"AwaitingHuman"},
		state.Approve:    {"Reviewing"},
		state.Reopen:     {"Complete", "Failed"},
	} {
		if got := StatesFor(ev); !slices.Equal(got, want) {
			t.Errorf("%s needs %v, not %v", ev, got, want)
		}
	}
}

// TestJSONObeysNoTerminal: it says the same, and no byte of it is a control character.
func TestJSONObeysNoTerminal(t *testing.T) {
	text := "a\x1b[31m\x07\x7f\u009b\u202e\u2028\U000E0001 <b> é 漢 \t\n"
	got, err := format.JSON(map[string]string{"k": text}, "  ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(got), "\x1b\x07\x7f\u009b\u202e\u2028\U000E0001\t") || !strings.Contains(string(got), "<b> é 漢") {
		t.Errorf("%q", got)
	}
	var back map[string]string
	if err := json.Unmarshal(got, &back); err != nil || back["k"] != text {
		t.Errorf("read back as %q: %v", back["k"], err)
	}
}

// TestOnlyALineAgrees: Enter means what is usual. ctrl-C and the end of the input are no answer, and nothing is written or started.
func TestOnlyALineAgrees(t *testing.T) {
	for typed, want := range map[string]struct{ usual, unusual bool }{
		"\n": {true, false}, "  \n": {true, false}, "y\n": {true, true}, " Yes \nno\n": {true, true}, "n\n": {}, "yess\n": {}, "": {}, " ": {}, "y": {},
	} {
		for usual, want := range map[bool]bool{true: want.usual, false: want.unusual} {
			a := &App{In: strings.NewReader(typed)}
			if got := a.Agrees(usual); got != want {
				t.Errorf("%q agrees: %v, where Enter means %v", typed, got, usual)
			}
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	silent, _ := io.Pipe()
	defer silent.Close()
	if a := (&App{In: Interruptible{Ctx: ctx, From: silent}}); a.Agrees(true) {
		t.Error("ctrl-C agrees")
	}
}
