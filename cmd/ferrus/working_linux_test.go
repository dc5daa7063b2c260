package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/test/projecttest"
)

// TestALongCheckShowsItsOutput while it runs, with the time that it has taken, and at its end nothing of that is left.
func TestALongCheckShowsItsOutput(t *testing.T) {
	t.Parallel()
	dir := projecttest.New(t)
	text := "[checks]\ncommands = [\"echo half done; while ! test -e go; do sleep 0.05; done\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
	p, cmd := atTerminal(t, dir, 80, 24, "check")
	p.shows(t, " s: half done")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = p.wait(cmd)
	if shown := p.screen.String(); strings.Contains(shown, "half done\n") || !strings.Contains(shown, "running 1 command") || strings.Contains(shown, "running the checks for") {
		t.Errorf("%s", shown)
	}
}

// TestAJournalThatIsReadForLongSaysSo, here from a pipe that nothing is written to yet.
func TestAJournalThatIsReadForLongSaysSo(t *testing.T) {
	t.Parallel()
	dir := projecttest.New(t)
	name := filepath.Join(dir, "journal")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, cmd := atTerminal(t, dir, 80, 24, "store", "import", "journal")
	p.shows(t, "reading the journal for ")
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	_ = p.wait(cmd)
	if shown := p.screen.String(); strings.Contains(shown, "reading the journal") {
		t.Errorf("%s", shown)
	}
}
