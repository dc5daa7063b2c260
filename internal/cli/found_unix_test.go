//go:build unix

package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestClientsAreAskedSideBySide: five clients of which none is logged in answer only when all of them have been asked for their version,
// and those that can be asked for their login.
func TestClientsAreAskedSideBySide(t *testing.T) {
	fiveClients(t, `: >"$ASKED/${0##*/}.$1"
for f in claude.--version codex.--version gemini.--version opencode.--version qwen.--version claude.auth codex.login; do
	while ! [ -e "$ASKED/$f" ]; do sleep 0.01; done
done
case $1 in --version) echo 1.0; exit;; esac
echo 'Not logged in'
exit 1
`)
	found := find(t.Context(), t.TempDir())
	if len(found) != 5 {
		t.Errorf("%+v", found)
	}
	for _, s := range found {
		if asked := s.Name == "claude-code" || s.Name == "codex"; s.Version != "1.0" || s.Broken != "" || s.Silent || s.LoggedOut != asked {
			t.Errorf("%+v", s)
		}
	}
}

// TestAClientThatDoesNotAnswerIsNotWaitedFor when the time is over.
func TestAClientThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	fiveClients(t, "exec sleep 1000\n")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	found := FindAgents(over, t.TempDir())
	if len(found) != 5 {
		t.Errorf("%+v", found)
	}
	for _, s := range found {
		if s.Broken == "" || !s.Silent || s.works() {
			t.Errorf("%+v", s)
		}
	}
}

// fiveClients puts five clients on the PATH, each with the same script, and nothing else of agents.
func fiveClients(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	t.Setenv("ASKED", t.TempDir())
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "qwen"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
