package attack

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A terminal stands for that of a person: a process that opens its path can write to its screen and read what is typed.
type terminal struct {
	screen *os.File // what the person sees
	own    *os.File // the end of the person's programs
}

// openTerminal opens a new terminal.
func openTerminal() (*terminal, error) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{screen: screen}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		t.own, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		screen.Close()
		return nil, err
	}
	return t, nil
}

// path is by what others open it, "" where the system has no terminals.
func (t *terminal) path() string {
	if t == nil {
		return ""
	}
	return t.own.Name()
}

// used reports whether somebody else has written to it. What they have written comes before what we write.
func (t *terminal) used() (bool, error) {
	if t == nil {
		return false, nil
	}
	const mark = "ours"
	if _, err := t.own.WriteString(mark); err != nil {
		return false, err
	}
	seen := ""
	for piece := make([]byte, 256); !strings.HasSuffix(seen, mark); {
		n, err := t.screen.Read(piece)
		if err != nil {
			return false, err
		}
		seen += string(piece[:n])
	}
	return seen != mark, nil
}

func (t *terminal) close() {
	if t != nil {
		t.own.Close()
		t.screen.Close()
	}
}

// intrude writes to a terminal by its path.
func intrude(t target) error {
	if t.tty == "" {
		return errors.New("terminals are not supported")
	}
	f, err := os.OpenFile(t.tty, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("hello\n")
	return err
}
