package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A pty is a real terminal with a program in it, and what the program has written.
type pty struct {
	master, tty *os.File
	read        chan struct{} // closed when the last writer has gone

	mu     sync.Mutex
	raw    bytes.Buffer
	screen *screen
}

func openPty(columns, rows int) (*pty, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	// Through the raw connection: Fd would make reading a blocked thread that Close does not end.
	var number int
	conn, err := master.SyscallConn()
	if err == nil {
		controlErr := conn.Control(func(fd uintptr) {
			if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
				number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		if err == nil {
			err = controlErr
		}
	}
	if err != nil {
		return nil, err
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	p := &pty{master: master, tty: tty, read: make(chan struct{}), screen: newScreen(columns, rows)}
	return p, p.size(columns, rows)
}

func (p *pty) size(columns, rows int) error {
	return unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
}

// resize gives the window another size.
func (p *pty) resize(columns, rows int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.screen.resize(columns, rows)
	return p.size(columns, rows)
}

// run starts a program in the terminal, which is its controlling one: ctrl-C is a signal to it. said gets all that has
// been written, whenever there is more.
func (p *pty) run(cmd *exec.Cmd, said func(all string)) error {
	cmd.Stdout, cmd.Stderr = p.tty, p.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.read)
		piece := make([]byte, 4<<10)
		for {
			n, err := p.master.Read(piece)
			p.mu.Lock()
			p.raw.Write(piece[:n])
			p.screen.write(piece[:n])
			all := p.raw.String()
			p.mu.Unlock()
			said(all)
			if err != nil {
				return
			}
		}
	}()
	return nil
}

// again forgets what has been written, so that the screen alone shows it, and waits until a text has been written n times.
func (p *pty) again(t *testing.T, text string, n int) {
	t.Helper()
	p.mu.Lock()
	p.raw.Reset()
	p.mu.Unlock()
	p.eventually(t, text+", again", func(string) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Count(p.raw.String(), text) >= n
	})
}

func (p *pty) write(text string) error {
	_, err := io.WriteString(p.master, text)
	return err
}

// wait waits until the program has ended, and all that it wrote is on the screen.
func (p *pty) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	p.tty.Close()
	<-p.read
	p.master.Close()
	return err
}

// eventually waits until the screen fits a claim, and returns it.
func (p *pty) eventually(t *testing.T, what string, claim func(shown string) bool) string {
	t.Helper()
	for end := time.Now().Add(kit.Patience); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		shown := p.screen.String()
		p.mu.Unlock()
		if claim(shown) {
			return shown
		}
		if time.Now().After(end) {
			t.Fatalf("not on the screen: %s\n%s", what, shown)
		}
	}
}

func (p *pty) shows(t *testing.T, text string) string {
	t.Helper()
	return p.eventually(t, text, func(shown string) bool { return strings.Contains(shown, text) })
}

// ttyCommand runs a command whose stdout and stderr are a terminal: tty PROGRAM [ARG ...]. What it wrote there is the
// command's stdout. With tty -type AFTER TEXT PROGRAM ... its stdin is one too, on which somebody types a line once they
// have read what comes before; with several, one after the other.
func ttyCommand(ts *testscript.TestScript, neg bool, args []string) {
	var typed [][2]string // after what, which line
	for args[0] == "-type" {
		typed, args = append(typed, [2]string{args[1], args[2] + "\n"}), args[3:]
	}
	p, err := openPty(0, 0) // of no size that anybody knows
	ts.Check(err)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environOf(ts, "NO_COLOR="+ts.Getenv("NO_COLOR"), "TERM=xterm", "PWD="+cmd.Dir)
	if typed != nil {
		cmd.Stdin = p.tty
	}
	ts.Check(p.run(cmd, func(all string) {
		if len(typed) > 0 && strings.Contains(all, typed[0][0]) {
			_ = p.write(typed[0][1])
			typed = typed[1:]
		}
	}))
	hung := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }) // so that a script says where it hangs
	err = p.wait(cmd)
	hung.Stop()
	_, writeErr := ts.Stdout().Write(p.raw.Bytes())
	ts.Check(writeErr)
	if (err != nil) != neg {
		ts.Fatalf("%v: %v", args, err)
	}
}
