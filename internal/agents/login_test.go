//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAClientSaysItselfWhetherItIsLoggedIn: what cannot be asked, or does not know, is not called logged out.
func TestAClientSaysItselfWhetherItIsLoggedIn(t *testing.T) {
	for name, x := range map[string]struct {
		of     Adapter
		says   string // the script's body
		config string // of Codex
		env    string
		out    bool
	}{
		"claude, out":              {of: claude, says: `[ "$*" = "auth status" ] && [ $ANTHROPIC_BASE_URL = http://127.0.0.1:1 ] && echo '{ "loggedIn": false }'; exit 1`, out: true},
		"claude, in":               {of: claude, says: `echo '{ "loggedIn": true }'`},
		"claude of another kind":   {of: claude, says: `echo "Not logged in · Please run /login"; exit 1`, out: true},
		"claude that is broken":    {of: claude, says: `exit 127`},
		"claude that only says so": {of: claude, says: `echo "not logged in"`},
		"codex, out":               {of: codex, says: `[ "$*" = "login status" ] && echo "Not logged in" >&2; exit 1`, out: true},
		"codex, in":                {of: codex, says: `echo "Logged in using ChatGPT"`},
		"codex with a key":         {of: codex, says: `echo "Not logged in"; exit 1`, env: "CODEX_API_KEY=k"},
		"codex with a provider":    {of: codex, says: `echo "Not logged in"; exit 1`, config: "model_provider = \"mine\"\n"},
		"codex with the usual one": {of: codex, says: `echo "Not logged in"; exit 1`, config: "model_provider = \"openai\"\n", out: true},
		"codex, an old one":        {of: codex, says: `echo "error: unexpected argument" >&2; exit 2`},
		"one that cannot be asked": {of: qwen, says: `echo "not logged in"; exit 1`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, x.of.Program), []byte("#!/bin/sh\n"+x.says+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(x.config), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := x.of.LoggedOut(t.Context(), []string{"PATH=" + dir, "CODEX_HOME=" + dir, "HOME=" + dir, x.env}); got != x.out {
				t.Errorf("logged out: %v", got)
			}
		})
	}
	if claude.LoggedOut(t.Context(), []string{"PATH="}) {
		t.Error("one that is not there is logged out")
	}
}
