package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestEveryHiddenCharacterIsMarkedOnATerminal, whatever has it: content and names of files, commit messages, texts of agents, logs. What is
// written to a program stays a patch to the byte.
func TestEveryHiddenCharacterIsMarkedOnATerminal(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	_, ex := m.Begun()
	every := kit.HiddenText()
	text := strings.ReplaceAll(every, "\x00", "")
	m.Write("every.go", every)
	for _, name := range kit.HiddenNames() {
		m.Write(name, "x\n")
	}
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Git("add", "-A")
	m.Git("commit", "-q", "--cleanup=verbatim", "-F", message)
	if _, err := ex.Progress(t.Context(), text[:2000]); err != nil {
		t.Fatal(err)
	}
	if _, err := ex.Submit(t.Context(), engine.Submitting{Summary: text, Verification: "v"}, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"executor-1.log", "check-k9.log"} {
		if err := os.WriteFile(m.Path(".ferrus/logs/"+name), []byte(every), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(tty bool, line string) string {
		var out, said bytes.Buffer
		a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &said, OutTTY: tty, Colour: tty}
		if exit := root.Run(a, t.Context(), append([]string{"-C", m.Dir}, strings.Fields(line)...)); exit != cli.ExitOK && line != "doctor" {
			t.Errorf("ferrus %s ends with %d: %s", line, exit, &said)
		}
		if tty {
			out.Write(said.Bytes())
		}
		return out.String()
	}
	whole := map[string]bool{"diff": true, "logs k9": true, "context --role supervisor": true}
	for _, line := range []string{"diff", "diff 1..4", "diff --stat", "status", "status --all", "log", "log --all", "show 1", "show 2", "show 3", "show 4", "context --role supervisor",
		"context --role executor", "logs k9", "logs executor", "branches", "doctor", "stack", "stack executor"} {
		shown := unwrapped(colours.ReplaceAllString(run(true, line), ""))
		raw, dropped := kit.Unmarked(shown)
		if len(raw) > 0 || whole[line] && len(dropped) > 1 { // no text has NUL
			t.Errorf("ferrus %s shows %U raw, and %U not at all", line, raw, dropped)
		}
	}
	diff := run(true, "diff")
	if notice, patch, _ := strings.Cut(diff, "diff --git"); !strings.Contains(notice, "characters that cannot be seen") || !strings.Contains(unwrapped(colours.ReplaceAllString(patch, "")), "+0000 a<U+0000>b") {
		t.Errorf("no notice is above the patch: %.300q", diff)
	}
	for name := range strings.Lines(unwrapped(colours.ReplaceAllString(diff, ""))) {
		if strings.HasPrefix(name, "+++ b/n0x") && !strings.Contains(name, "<U+0085>") {
			t.Errorf("a name is shown as %s", name)
		}
	}
	// For a program: to the byte, and it applies.
	exact := filepath.Join(t.TempDir(), "exact.patch")
	if err := os.WriteFile(exact, []byte(run(false, "diff")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", m.Dir, "apply", "--reverse", "--check", "--whitespace=nowarn", exact).CombinedOutput(); err != nil {
		t.Errorf("git does not take what a program gets: %v\n%s", err, out)
	}
	if got := run(false, "diff"); !strings.Contains(got, "+202E a\u202eb\n") || strings.Contains(got, "characters that cannot be seen") {
		t.Error("a program gets another patch")
	}
}

// unwrapped undoes the breaks of long lines.
func unwrapped(text string) string {
	for _, mark := range []string{"\n    … ", "\n  │ ", "\n│ "} {
		text = strings.ReplaceAll(text, mark, "")
	}
	return text
}
