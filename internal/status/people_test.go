package status

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
)

// TestPeopleReadWords: each state and each event has words for people, and no two events the same.
func TestPeopleReadWords(t *testing.T) {
	for _, s := range state.States() {
		if StateWords(s) == string(s) {
			t.Errorf("%s has no words", s)
		}
	}
	events := map[string]state.Event{}
	for _, ev := range state.Events() {
		words := EventWords(ev)
		if other, twice := events[words]; eventWords[ev] == "" || twice {
			t.Errorf("%s is %q, as %s", ev, words, other)
		}
		events[words] = ev
	}
}

func TestPeopleReadNames(t *testing.T) {
	for actor, want := range map[string]string{
		"executor:claude-code:1": "Claude Code",
		"executor:claude-code:2": "Claude Code 2",
		"supervisor:codex:1":     "Codex, the reviewer",
		"supervisor:codex:3":     "Codex 3, the reviewer",
		"executor:command:1":     "the executor",
		"executor:command:2":     "the executor 2",
		"supervisor:command:1":   "the reviewer",
		"executor:tinker:1":      "tinker",
		"human":                  "you",
		"ferrus":                 "ferrus",
		"worker:codex:1":         "worker:codex:1",
		"executor:codex":         "executor:codex",
		"":                       "",
	} {
		if got := Who(actor); got != want {
			t.Errorf("%s is %q, want %q", actor, got, want)
		}
	}
}
