package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
)

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

// TestTheScreenShowsTheProject in sizes from small to large, follows changes of the size, and leaves the terminal as it was.
func TestTheScreenShowsTheProject(t *testing.T) {
	dir := sleeping(t, longTitle)
	x := inTerminal(t, dir, 80, 24, nil, "ferrus")
	x.shows(t, "needs you", "Needs you 1", "Make the failing", "q quit")
	for _, size := range [][2]int{{60, 15}, {120, 40}, {300, 100}, {80, 24}} {
		x.resize(t, size[0], size[1])
		x.until(t, "the keys in the last line", func(shown string) bool {
			lines := strings.Split(shown, "\n")
			return len(lines) == size[1] && strings.Contains(lines[size[1]-1], "q quit") && strings.Contains(shown, "needs you")
		})
	}

	x.press(t, "q")
	if code := x.end(t); code != 0 {
		t.Errorf("it ends with %d", code)
	}
	if x.second() || !x.cooked(t) {
		t.Error("the terminal is not as it was")
	}
}

// TestOneScreenOfAllProjects: it shows what needs the person in each, opens one, returns from it, and leaves the terminal as it was.
func TestOneScreenOfAllProjects(t *testing.T) {
	t.Setenv(trust.EnvStateDir, filepath.Join(t.TempDir(), "state"))
	one := sleeping(t, "Paint the first wall")
	sleeping(t, "Paint the second wall")
	x := inTerminal(t, filepath.Dir(one), 120, 40, nil, "ferrus", "ui", "--all")
	x.shows(t, "2 needs you · 2 projects", "Paint the first wall", "Paint the second wall")
	x.press(t, "\r")
	x.shows(t, "s resume", "esc all projects")
	x.press(t, "\x1b")
	x.shows(t, "Paint the second wall", "↵ open")
	x.press(t, "q")
	if code := x.end(t); code != 0 || x.second() || !x.cooked(t) {
		t.Errorf("it ends with %d, or the terminal is not as it was", code)
	}
}

// TestAKilledScreenLeavesAUsableTerminal: whichever of its two processes is killed.
func TestAKilledScreenLeavesAUsableTerminal(t *testing.T) {
	dir := sleeping(t, "One task")
	for _, guard := range []bool{false, true} {
		x := inTerminal(t, dir, 80, 24, nil, "sh", "-c", "ferrus ui; echo $? is the end; read answer")
		x.shows(t, "One task", "q quit")
		victim := children(x.cmd.Process.Pid)[0]
		if !guard {
			victim = children(victim)[0]
		}
		if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x.until(t, "the shell, in a terminal as it was", func(string) bool {
			return strings.Contains(x.written(), " is the end") && !x.second() && x.cooked(t)
		})
		if w := x.written(); strings.LastIndex(w, "\x1b[?1002l") <= strings.LastIndex(w, "\x1b[?1002h") || strings.LastIndex(w, "\x1b[?1006l") <= strings.LastIndex(w, "\x1b[?1006h") {
			t.Error("the terminal still reports the mouse")
		}
		if !guard && !strings.Contains(x.text(), "the screen was killed") {
			t.Errorf("it says %s", x.text())
		}
		x.press(t, "\n")
		x.end(t)
	}
}

// entry is a line of the journal tab.
var entry = regexp.MustCompile(`│ .{3} +\d+  \d\d:\d\d:\d\d  `)

// colour is a sequence that chooses a colour.
var colour = regexp.MustCompile(`\x1b\[(?:\d+;)*(?:[34][0-8]|9[0-7])(?:;\d+)*m`)

func coloursIn(text string) string { return strings.Join(colour.FindAllString(text, 3), " ") }

// TestADumbTerminalHasNoScreen: the refusal names what else there is, and ferrus alone is the status.
func TestADumbTerminalHasNoScreen(t *testing.T) {
	dir := sleeping(t, "One task")
	for _, term := range []string{"TERM=dumb", "TERM="} {
		x := inTerminal(t, dir, 80, 24, []string{term}, "ferrus", "ui")
		if code := x.end(t); code != cli.ExitUsage || !strings.Contains(x.written(), "ferrus status --watch") {
			t.Errorf("it ends with %d: %s", code, x.written())
		}
		x = inTerminal(t, dir, 80, 24, []string{term}, "ferrus")
		if code := x.end(t); code != 0 || !strings.Contains(x.written(), "writes") || strings.Contains(x.written(), "\x1b[?1049h") {
			t.Errorf("it ends with %d: %s", code, x.written())
		}
	}
	x := inTerminal(t, dir, 80, 24, []string{"FERRUS_AGENT=executor:codex:1"}, "ferrus")
	if code := x.end(t); code != 0 || strings.Contains(x.written(), "\x1b[?1049h") {
		t.Errorf("an agent has a screen: %d: %s", code, x.written())
	}
}

// TestASignalEndsTheScreen, and the terminal is as it was.
func TestASignalEndsTheScreen(t *testing.T) {
	dir := sleeping(t, "One task")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		x := inTerminal(t, dir, 80, 24, nil, "ferrus", "ui")
		x.shows(t, "One task", "q quit")
		if err := x.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if code := x.end(t); code != 128+int(signal) || x.second() || !x.cooked(t) {
			t.Errorf("after %v it ends with %d", signal, code)
		}
	}
}

// TestAnEditorGetsTheTerminal to itself, and its text returns to the form.
func TestAnEditorGetsTheTerminal(t *testing.T) {
	t.Parallel()
	dir := sleeping(t, "One task")
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho editing; read answer; echo \"with $answer\" >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := inTerminal(t, dir, 80, 24, []string{"EDITOR=" + editor, "VISUAL="}, "ferrus", "ui")
	x.shows(t, "One task", "q quit")
	x.press(t, "t")
	x.shows(t, "into the queue")
	x.press(t, "2")
	x.shows(t, "What is to be done")
	x.press(t, "Paint it", "\x05")
	x.shows(t, "editing")
	x.press(t, "blue paint\n")
	x.shows(t, "Paint it", "with blue paint", "ctrl+s send")
	x.press(t, "\x1b")
	x.until(t, "no form", func(shown string) bool { return !strings.Contains(shown, "What is to be done") })
	x.press(t, "q")
	if code := x.end(t); code != 0 || !x.cooked(t) {
		t.Errorf("it ends with %d", code)
	}
}
