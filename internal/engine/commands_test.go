package engine_test

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestACutOffMoveNamesItsCommand whole, for a rollback of a branch as for a merge.
func TestACutOffMoveNamesItsCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   state.Task
		want string
	}{
		{state.Task{}, ""},
		{state.Task{Returning: state.FileMove{To: 7, Tree: "t"}}, `ferrus rollback 7 --files --reason "..."`},
		{state.Task{Branch: "b", Returning: state.FileMove{To: 7, Tree: "t"}}, `ferrus rollback --branch b 7 --files --reason "..."`},
		{state.Task{Returning: state.FileMove{From: "b", Tree: "t"}}, "ferrus merge b"},
	} {
		var st engine.Status
		st.Task = tt.in
		if got := refusal.Finishing(st.Task); got != tt.want {
			t.Errorf("%+v: %q, not %q", tt.in.Returning, got, tt.want)
		}
		if notices := st.Notices(); (len(notices) > 0) != (tt.want != "") || tt.want != "" && !strings.Contains(notices[0], tt.want) {
			t.Errorf("%+v: %q", tt.in.Returning, notices)
		}
	}
}

// TestTheCommandsOfATextNameTheBranch, once each, where they act on one machine; and the project's own stay as they are.
func TestTheCommandsOfATextNameTheBranch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ferrus reset":                         "ferrus reset --branch b",
		`ferrus answer 2, or ferrus diff`:      `ferrus answer --branch b 2, or ferrus diff --branch b`,
		"`ferrus config accept`; ferrus trust": "`ferrus config accept --branch b`; ferrus trust",
		"ferrus answer --branch b 2":           "ferrus answer --branch b 2",
		"ferrus doctor --fix repairs it":       "ferrus doctor --branch b --fix repairs it",
		"ferrus run --parallel 2":              "ferrus run --parallel 2",
		"ferrus status --all; ferrus merge b":  "ferrus status --all; ferrus merge b",
		"ferrus logs k1; ferrusd resume":       "ferrus logs --branch b k1; ferrusd resume",
		"what is ferrus.toml, or ferrus?":      "what is ferrus.toml, or ferrus?",
	} {
		if got := refusal.RemedyOn("b", text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
		if got := refusal.RemedyOn("", text); got != text {
			t.Errorf("%q of the project is %q", text, got)
		}
		if got := refusal.RemedyOn("b", want); got != want {
			t.Errorf("twice, %q is %q", want, got)
		}
	}
}

// TestWhatOthersWroteIsNotRewritten: a check, an output or a file may name a command of ferrus, and stays as it is.
func TestWhatOthersWroteIsNotRewritten(t *testing.T) {
	t.Parallel()
	check := "test -f done # 100%, run ferrus status first"
	placed := refusal.RefusedError{Remedy: check, Placed: true}
	for got, want := range map[string]string{
		refusal.OnBranch("b", "%s; ferrus reset abandons %s", check, "it"): check + "; ferrus reset --branch b abandons it",
		refusal.OnBranch("b", "at 100% ferrus reset"):                      "at 100% ferrus reset --branch b",
		refusal.CommandOn("b", "ferrus answer 'ferrus run'"):               "ferrus answer --branch b 'ferrus run'",
		refusal.CommandOn("b", "git commit -m 'ferrus run'"):               "git commit -m 'ferrus run'",
		placed.RemedyOn("b"): check,
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
