package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func termiosOf(f *os.File) (*unix.Termios, error) {
	return unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
}

// TestTheScreenShowsTheProject in sizes from small to large, follows changes of the size, and leaves the terminal as it was.
func TestTheScreenShowsTheProject(t *testing.T) {
	dir := sleeping(t, longTitle)
	x := inTerminal(t, dir, 80, 24, nil, "ferrus")
	x.shows(t, "needs you", "at work", "waiting", "done", "Make the failing", "q quit")
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
	if x.emulator.IsAltScreen() || !x.cooked(t) {
		t.Error("the terminal is not as it was")
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
			return strings.Contains(x.written(), " is the end") && !x.emulator.IsAltScreen() && x.cooked(t)
		})
		if !guard && !strings.Contains(x.text(), "the screen was killed") {
			t.Errorf("it says %s", x.text())
		}
		x.press(t, "\n")
		x.end(t)
	}
}
