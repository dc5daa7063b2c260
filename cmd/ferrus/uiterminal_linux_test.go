package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A terminal is a terminal emulator with a program in it: what the program draws, and answers to what it asks.
type terminal struct {
	master *os.File
	cmd    *exec.Cmd
	ended  chan error

	mu       sync.Mutex
	emulator *vt.Emulator  // but for the answers, which are a pipe
	changed  chan struct{} // closed and replaced when something was written
	raw      strings.Builder
}

// inTerminal starts a program in a terminal of a size. env is added to its environment.
func inTerminal(t testing.TB, dir string, columns, rows int, env []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{"FERRUS_AGENT=", "NO_COLOR=", "TERM=xterm-256color", "COLORTERM=",
		"GIT_CEILING_DIRECTORIES=" + parentOf(dir)}, env...)...)
	master, err := creack.StartWithSize(cmd, &creack.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{emulator: vt.NewEmulator(columns, rows), master: master, cmd: cmd, ended: make(chan error, 1), changed: make(chan struct{})}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(master, x.emulator)
	}()
	go func() {
		piece := make([]byte, 32<<10)
		for {
			n, err := master.Read(piece)
			x.mu.Lock()
			_, _ = x.emulator.Write(piece[:n])
			x.raw.Write(piece[:n])
			close(x.changed)
			x.changed = make(chan struct{})
			x.mu.Unlock()
			if err != nil {
				x.ended <- cmd.Wait()
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		master.Close()
		if pipe, ok := x.emulator.InputPipe().(io.Closer); ok { // closing the emulator itself races with its reader
			pipe.Close()
			<-answered
		}
	})
	return x
}

func parentOf(dir string) string { return dir[:strings.LastIndexByte(dir, '/')] }

// text is what the terminal shows.
func (x *terminal) text() string {
	x.mu.Lock()
	lines := strings.Split(x.emulator.String(), "\n")
	x.mu.Unlock()
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// written is all that the program has written.
func (x *terminal) written() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// until waits until the screen fits a claim, and returns it.
func (x *terminal) until(t testing.TB, what string, claim func(shown string) bool) string {
	t.Helper()
	limit := time.After(kit.Patience)
	for {
		x.mu.Lock()
		changed := x.changed
		x.mu.Unlock()
		shown := x.text()
		if claim(shown) {
			return shown
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond): // the modes of a terminal and files change without a word
		case <-limit:
			w := x.written()
			t.Fatalf("not on the screen: %s\n%s\nlast written: %q", what, shown, w[max(0, len(w)-300):])
		}
	}
}

func (x *terminal) shows(t testing.TB, texts ...string) string {
	t.Helper()
	return x.until(t, strings.Join(texts, ", "), func(shown string) bool {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return false
			}
		}
		return true
	})
}

// press sends keys, as a terminal does.
func (x *terminal) press(t testing.TB, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := io.WriteString(x.master, key); err != nil {
			t.Fatal(err)
		}
	}
}

func (x *terminal) resize(t testing.TB, columns, rows int) {
	t.Helper()
	x.mu.Lock()
	x.emulator.Resize(columns, rows)
	x.mu.Unlock()
	if err := creack.Setsize(x.master, &creack.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
}

// end waits until the program has ended, and returns its exit code.
func (x *terminal) end(t testing.TB) int {
	t.Helper()
	select {
	case <-x.ended:
	case <-time.After(kit.Patience):
		t.Fatalf("it does not end:\n%s", x.text())
	}
	return x.cmd.ProcessState.ExitCode()
}

// children are the processes that a process has started.
func children(pid int) []int {
	var list []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == itoa(pid) {
			list = append(list, atoi(e.Name()))
		}
	}
	return list
}

// second reports whether the second screen is shown, on which programs draw.
func (x *terminal) second() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emulator.IsAltScreen()
}

// cooked reports whether a terminal reads lines and echoes them, as a shell needs it.
func (x *terminal) cooked(t testing.TB) bool {
	t.Helper()
	attr, err := unix.IoctlGetTermios(int(x.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return attr.Lflag&syscall.ICANON != 0 && attr.Lflag&syscall.ECHO != 0
}

// choose moves the selection of the list to the task of a title.
func (x *terminal) choose(t testing.TB, title string) {
	t.Helper()
	x.press(t, "g")
	for range 20 {
		shown := x.shows(t, "▌")
		for _, l := range strings.Split(shown, "\n") {
			if strings.HasPrefix(l, "▌") && strings.Contains(l, title) {
				return
			}
		}
		x.press(t, "j")
		x.until(t, "another selection", func(now string) bool { return now != shown })
	}
	t.Fatalf("%s is not in the list:\n%s", title, x.text())
}
