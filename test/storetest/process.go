package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/store"
)

// The environment of a test program that is started again as another process.
const (
	envPart    = "FERRUS_STORETEST_PART"
	envAddress = "FERRUS_STORETEST_ADDRESS"
)

// Main runs a part of a test where this program was started again to be another process, and otherwise run. It returns the exit code.
func Main(k Kind, run func() int) int {
	name := os.Getenv(envPart)
	if name == "" {
		return run()
	}
	m, err := k.Open(os.Getenv(envAddress))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := parts[name](m, bufio.NewScanner(os.Stdin)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// parts are what another process does with a machine. Each ends with its input.
var parts = map[string]func(m store.Machine, in *bufio.Scanner) error{
	"count": func(m store.Machine, in *bufio.Scanner) error { // with each line as a note, or reads for an empty one; answers what it has seen
		for in.Scan() {
			var snap store.Snapshot
			var err error
			if note := in.Text(); note != "" {
				snap, err = m.Apply(context.Background(), noted(note))
			} else {
				snap, err = m.View()
			}
			if err != nil {
				return err
			}
			fmt.Println(snap.Task.Epoch)
		}
		return nil
	},
	"slow": func(m store.Machine, in *bufio.Scanner) error { // asks before it decides, each time
		snap, err := m.Apply(context.Background(), func(now store.Snapshot) (*store.Change, error) {
			fmt.Println("decides at", now.Task.Epoch)
			in.Scan()
			return noted(fmt.Sprint("slow after ", now.Task.Epoch))(now)
		})
		fmt.Println(snap.Task.Epoch, err)
		return err
	},
	"session": func(m store.Machine, in *bufio.Scanner) error { // announces the session that a line names, and ends it with the next
		in.Scan()
		c, err := m.Announce(in.Text())
		if err != nil {
			return err
		}
		fmt.Println("announced")
		in.Scan()
		fmt.Println(c.Close())
		in.Scan()
		return nil
	},
	"fork": func(m store.Machine, in *bufio.Scanner) error { // of the newest line; its input has draft and folder
		in.Scan()
		name, draft, dir, err := split(in.Text())
		if err != nil {
			return err
		}
		now, err := m.View()
		if err != nil {
			return err
		}
		fmt.Println("forks")
		err = m.Fork(context.Background(), store.Branch{Name: name, Draft: draft, Dir: dir, Backup: func() string { return "" }}, now.Journal.Bytes, noted("forked"))
		fmt.Println(err)
		return err
	},
}

// split takes the three words of a branch apart.
func split(line string) (name, draft, dir string, err error) {
	words := strings.Split(line, "\t")
	if len(words) != 3 {
		return "", "", "", fmt.Errorf("%q has no three words", line)
	}
	return words[0], words[1], words[2], nil
}

// A process is the test program in another part.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts another process that uses a machine. It ends with the test.
func start(t testing.TB, p Place, part string) process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envPart+"="+part, envAddress+"="+p.Address)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	proc := process{cmd, in, bufio.NewReader(out)}
	t.Cleanup(proc.kill)
	return proc
}

// says returns the next line of the process; io.EOF after its end.
func (p process) says() (string, error) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// ask sends a line and returns the answer.
func (p process) ask(line string) (string, error) {
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return "", err
	}
	return p.says()
}

// must is ask in a test.
func (p process) must(t testing.TB, line string) string {
	t.Helper()
	answer, err := p.ask(line)
	if err != nil {
		t.Fatalf("the process ended: %v", err)
	}
	return answer
}

// kill ends the process at once.
func (p process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// StartSession announces a session in another process, which the function kills.
func StartSession(t testing.TB, p Place, session string) (kill func()) {
	t.Helper()
	proc := start(t, p, "session")
	if got := proc.must(t, session); got != "announced" {
		t.Fatal(got)
	}
	return proc.kill
}
