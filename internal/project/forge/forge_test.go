package forge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestAnAddressNamesARepository, or nothing that could lead a request elsewhere.
func TestAnAddressNamesARepository(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/me/p.git":               "github.com/me/p",
		"https://user:secret@github.com/me/p":       "github.com/me/p",
		"http://github.localhost:8080/me/p.q/":      "github.localhost:8080/me/p.q",
		"ssh://git@github.com:22/me/p.git":          "github.com/me/p",
		"git@github.com:me/p.git":                   "github.com/me/p",
		"github.com:me/p":                           "github.com/me/p",
		"/srv/p.git":                                "",
		"https://github.com/me/..":                  "",
		"https://github.com/me/.":                   "",
		"https://github.com/../p":                   "",
		"https://github.com/me/p/pulls":             "",
		"https://github.com/me/p?x=y":               "",
		"https://github.com/me/%2e%2e":              "",
		"https://-x/me/p":                           "",
		"https://github.com/me":                     "",
		"git@github.com:--hostname=evil.example/p ": "",
		"": "",
	} {
		got, err := At(address)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q is %v, %v, want %q", address, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// says is a client that answers every request with a text.
func says(t *testing.T, answer string, exit int) Client {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	program := filepath.Join(t.TempDir(), "gh")
	text := "#!/bin/sh\ncat >/dev/null\nprintf '%s' '" + answer + "'\n"
	if exit != 0 {
		text += "echo 'gh: no \x1b[31m' >&2\nexit 4\n"
	}
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Client{program: program}
}

// TestAnAnswerIsHeldToItsForm: what a forge says names no other place, no option and no control character.
func TestAnAnswerIsHeldToItsForm(t *testing.T) {
	at := Repository{"github.com", "me", "p"}
	for _, answer := range []string{
		`{}`, `[]`, `x`, `{"owner":{"login":"me"},"name":"..","default_branch":"main"}`,
		`{"owner":{"login":"me/x"},"name":"p","default_branch":"main"}`,
		`{"owner":{"login":"me"},"name":"p","default_branch":"--force"}`,
		`{"owner":{"login":"me"},"name":"p","default_branch":"a b"}`,
		`{"owner":{"login":"me"},"name":"p","default_branch":"main","parent":{"owner":{"login":"?"},"name":"p","default_branch":"main"}}`,
	} {
		if got, err := says(t, answer, 0).Target(t.Context(), at, "b", ""); err == nil {
			t.Errorf("%s is taken for %+v", answer, got)
		}
	}
	fork := `{"owner":{"login":"me"},"name":"p","default_branch":"dev","parent":{"owner":{"login":"up"},"name":"q","default_branch":"main"}}`
	to, err := says(t, fork, 0).Target(t.Context(), at, "b", "")
	if err != nil || to.String() != "github.com/up/q" || to.Base != "main" || to.head != "me:b" {
		t.Errorf("a fork is %+v, %v", to, err)
	}
	for answer, ok := range map[string]bool{`[]`: true, `[{"number":0}]`: false, `[{"number":3,"head":{"sha":"--x"}}]`: false,
		`[{"number":3,"html_url":"u\u001b[2J","head":{"sha":"` + strings.Repeat("a", 40) + `"}}]`: true} {
		got, err := says(t, answer, 0).Open(t.Context(), to)
		if (err == nil) != ok || strings.Contains(got.URL, "\x1b") {
			t.Errorf("%s is %+v, %v", answer, got, err)
		}
	}
	_, err = says(t, `{"message":"x"}`, 4).Open(t.Context(), to)
	if refusal.CodeOf(err) != refusal.StoreError || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v", err)
	}
	text, _ := json.Marshal(strings.Repeat("x", maxAnswer+1))
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := says(t, "'; cat "+big+"; : '", 0).Open(t.Context(), to); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an answer without end: %v", err)
	}
}
