//go:build unix

package server

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestACommittedTokenLetsNobodyIn: git begins to track tokens.json under a server that is open, as a pull would have it.
func TestACommittedTokenLetsNobodyIn(t *testing.T) {
	t.Parallel()
	dir := repository(t, `"true"`)
	initialise(t, dir)
	o := opened(t, dir)
	for _, tracked := range []bool{false, true, false} {
		for _, transport := range transports {
			v, err := o.dial(t, transport, o.secret[state.Supervisor], nil)
			if (err != nil) != tracked {
				t.Errorf("%s, tracked %v: %v", transport, tracked, err)
			}
			if err == nil {
				v.Close()
			}
		}
		args := []string{"add", "-f", ".ferrus/tokens.json"}
		if tracked {
			args = []string{"rm", "-q", "--cached", ".ferrus/tokens.json"}
		}
		if err := gitIn(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAServerDoesNotGoOnWithAPulledJournal: git replaces the state under a server over stdio.
func TestAServerDoesNotGoOnWithAPulledJournal(t *testing.T) {
	sharedtest.InFiles(t, "it commits journal.jsonl")
	t.Parallel()
	dir := repository(t, `"true"`)
	initialise(t, dir)
	sup, w := ferrusd(t, dir, "supervisor"), ferrusd(t, dir, "executor")
	sup.do("create_task", `{"description":"d"}`)
	w.do("wait_for_task", "{}")
	if err := gitIn(dir, "add", "-f", ".ferrus/journal.jsonl", ".ferrus/STATE.json"); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]string{"status": "{}", "check": "{}", "progress": `{"note":"n"}`, "submit": `{"summary":"s","verification":"v"}`} {
		if r := w.call(tool, args); r.Code != refusal.ForeignState || r.Remedy == "" || r.Next != "stop" {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if err := gitIn(dir, "rm", "-q", "--cached", ".ferrus/journal.jsonl", ".ferrus/STATE.json"); err != nil {
		t.Fatal(err)
	}
	if r := w.do("check", "{}"); r.Status != "passed" {
		t.Errorf("afterwards: %+v", r)
	}
}
