package engine_test

import (
	"errors"
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

// TestTheCommandsOfATextNameTheBranch where they are marked; and the project's own stay as they are.
func TestTheCommandsOfATextNameTheBranch(t *testing.T) {
	t.Parallel()
	for text, want := range map[refusal.Own][2]string{
		"ferrus reset{branch}":                            {"ferrus reset", "ferrus reset --branch b"},
		"ferrus answer{branch} 2, or ferrus diff{branch}": {"ferrus answer 2, or ferrus diff", "ferrus answer --branch b 2, or ferrus diff --branch b"},
		"ferrus merge b; {server}":                        {"ferrus merge b; {server}", "ferrus merge b; {server}"},
	} {
		if own, on := text.On(""), text.On("b"); own != want[0] || on != want[1] || text.String() != own {
			t.Errorf("%q and %q, not %q", own, on, want)
		}
	}
}

// TestWhatOthersWroteIsNotRewritten: a check, an output or a file may name a command of ferrus, or a mark, and stays as it is.
func TestWhatOthersWroteIsNotRewritten(t *testing.T) {
	t.Parallel()
	check := "test -f done{branch} {{x}} # 100%, run ferrus status first"
	text := refusal.Say("%s; ferrus reset{branch} abandons %s", check, "it")
	for got, want := range map[string]string{
		text.On("b"): check + "; ferrus reset --branch b abandons it",
		text.On(""):  check + "; ferrus reset abandons it",
		refusal.Say("%s, %s", text, errors.New(check)).On("b"):          check + "; ferrus reset --branch b abandons it, " + check,
		refusal.Say("%q, %d", []string{"{branch}"}, 7).On("b"):          `["{branch}"], 7`,
		refusal.Own("ferrus logs{branch} ID").With("ID", check).On("b"): "ferrus logs --branch b " + check,
		refusal.OnBranch("b", "at 100% ferrus reset{branch}"):           "at 100% ferrus reset --branch b",
		refusal.CommandOn("b", "ferrus answer 'ferrus run'"):            "ferrus answer --branch b 'ferrus run'",
		refusal.CommandOn("b", "ferrus config accept"):                  "ferrus config accept --branch b",
		refusal.CommandOn("b", "ferrus status --all"):                   "ferrus status --all",
		refusal.CommandOn("", "ferrus reset"):                           "ferrus reset",
		refusal.CommandOn("b", "git commit -m 'ferrus run'"):            "git commit -m 'ferrus run'",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	var back refusal.Own
	written, err := text.MarshalText()
	if err != nil || back.UnmarshalText(written) != nil || back.On("b") != text.String() {
		t.Errorf("read again it is %q, %v", back.On("b"), err)
	}
}
