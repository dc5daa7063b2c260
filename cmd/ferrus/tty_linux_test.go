package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// ttyCommand runs a command whose stdout and stderr are a terminal: tty PROGRAM [ARG ...]. What it wrote there is the
// command's stdout. With tty -type AFTER TEXT PROGRAM ... its stdin is one too, on which somebody types a line once they
// have read what comes before; with several, one after the other.
func ttyCommand(ts *testscript.TestScript, neg bool, args []string) {
	var typed [][2]string // after what, which line
	for args[0] == "-type" {
		typed, args = append(typed, [2]string{args[1], args[2] + "\n"}), args[3:]
	}
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	defer screen.Close()
	// Through the raw connection: Fd would make reading a blocked thread that Close does not end.
	var number int
	conn, err := screen.SyscallConn()
	ts.Check(err)
	ts.Check(conn.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	ts.Check(err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), tty, tty
	cmd.Env = environOf(ts, "NO_COLOR="+ts.Getenv("NO_COLOR"), "TERM=xterm", "PWD="+cmd.Dir)
	if typed != nil {
		cmd.Stdin = tty
	}
	var shown bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		piece := make([]byte, 4<<10)
		for {
			n, err := screen.Read(piece)
			shown.Write(piece[:n])
			if len(typed) > 0 && strings.Contains(shown.String(), typed[0][0]) {
				_, _ = io.WriteString(screen, typed[0][1])
				typed = typed[1:]
			}
			if err != nil { // when the last writer has gone
				return
			}
		}
	}()
	err = cmd.Run()
	tty.Close()
	<-read
	_, writeErr := ts.Stdout().Write(shown.Bytes())
	ts.Check(writeErr)
	if (err != nil) != neg {
		ts.Fatalf("%v: %v", args, err)
	}
}
