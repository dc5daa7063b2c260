//go:build linux

package machines

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A computer has a home folder with the configuration of its person, and the state of ferrus there.
type computer struct {
	t    *testing.T
	name string
	home string
	dir  string // in which commands run
	node *exec.Cmd
	log  string // of its node
}

func newComputer(t *testing.T, name, remotes string) *computer {
	t.Helper()
	c := &computer{t: t, name: name, home: filepath.Join(t.TempDir(), name)}
	c.dir, c.log = c.home, filepath.Join(c.home, "node.log")
	if err := os.MkdirAll(filepath.Join(c.home, ".config", "ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	// It stands in for ssh to the host of the page's git remote: no server of ssh is needed.
	c.write("ssh", "#!/bin/sh\nwhile [ \"$1\" = -o ]; do shift 2; done\nshift\ncd "+remotes+" && exec sh -c \"$*\"\n", 0o700)
	c.write(".gitconfig", fmt.Sprintf("[user]\nname = Ada\nemail = ada@example.com\n[core]\nsshCommand = %s/ssh\n[ssh]\nvariant = ssh\n", c.home), 0o600)
	t.Cleanup(func() {
		if c.node != nil {
			_ = c.node.Process.Signal(syscall.SIGTERM)
			_ = c.node.Wait()
		}
		if text, err := os.ReadFile(c.log); err == nil && t.Failed() {
			t.Logf("the node of %s:\n%s", name, text)
		}
	})
	return c
}

// write writes a file of the home folder.
func (c *computer) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.home, name)), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// read returns a file of the folder in which commands run, "" if there is none.
func (c *computer) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(text)
}

// command is a command line of the computer, in the environment of a person who has just logged in.
func (c *computer) command(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1", "TERM=xterm"}
	return cmd
}

// run runs a command line that must work, and returns what it prints.
func (c *computer) run(line string) string {
	c.t.Helper()
	return run(c.t, c.name, c.command(line))
}

// run runs a command that must work, and returns what it prints.
func run(t *testing.T, where string, cmd *exec.Cmd) string {
	t.Helper()
	runtime.LockOSThread() // those of the database's superuser end with the thread
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", where, strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// start starts a command line that goes on.
func (c *computer) start(line string) {
	c.t.Helper()
	out, err := os.Create(c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	c.node = c.command("exec " + line)
	c.node.Stdout, c.node.Stderr = out, out
	if err := c.node.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// state returns the state of the task of a branch.
func (c *computer) state(branch string) string {
	out, err := c.command("ferrus status --json --branch " + branch).Output()
	var got struct{ State string }
	if err != nil || json.Unmarshal(out, &got) != nil {
		return "?"
	}
	return got.State
}

// completes waits until the task of a branch is complete, as ferrus status shows it.
func (c *computer) completes(branch string) {
	c.t.Helper()
	cmd := c.command("exec ferrus status --watch --json --branch " + branch)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	hung := time.AfterFunc(kit.Patience, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	var now struct{ State string }
	for each := json.NewDecoder(out); now.State != "Complete"; {
		if err := each.Decode(&now); err != nil {
			c.t.Fatalf("%s: %s is %s: %v", c.name, branch, now.State, err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// until waits until something is so.
func (c *computer) until(what string, so func() bool) {
	c.t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for end := time.Now().Add(kit.Patience); !so(); <-every.C {
		if time.Now().After(end) {
			c.t.Fatalf("%s: not so: %s", c.name, what)
		}
	}
}

// answer runs a command that must work in a terminal, types a line whenever it has printed a question, and returns what it prints.
func answer(t *testing.T, cmd *exec.Cmd, question, line string) string {
	t.Helper()
	master, tty, err := terminal()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		answered, piece := 0, make([]byte, 4<<10)
		for {
			n, err := master.Read(piece)
			said.Write(piece[:n])
			for ; answered < strings.Count(said.String(), question); answered++ {
				_, _ = io.WriteString(master, line+"\n")
			}
			if err != nil {
				return
			}
		}
	})
	hung := time.AfterFunc(kit.Patience, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	hung.Stop()
	reading.Wait()
	if err != nil || !strings.Contains(said.String(), question) {
		t.Fatalf("%s: %v, or it did not ask %q\n%s", strings.Join(cmd.Args, " "), err, question, said.String())
	}
	return said.String()
}

// terminal opens one: what is typed and read at, and what a program has.
func terminal() (master, tty *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	conn, err := master.SyscallConn()
	var number int
	if err == nil {
		var failed error
		err = conn.Control(func(fd uintptr) {
			if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
				number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		if err == nil {
			err = failed
		}
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, tty, nil
}
