package confine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/test/kit"
)

// part is the environment variable that makes this binary another program, and held names the file that a server has locked.
const (
	part = "FERRUS_TEST_PART"
	held = "FERRUS_TEST_LOCK"
)

// Become makes the process another program, if it was started as one of those that the tests of the relay need.
func Become() {
	switch os.Getenv(part) {
	case "server": // answers each line, and holds a lock as the session of an agent does
		lock, err := filelock.Take(os.Getenv(held))
		if err == nil {
			defer lock.Close()
			for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
				fmt.Println("you said " + lines.Text())
			}
		}
		os.Exit(0)
	case "client":
		t, err := ReadTicket(os.Args[1])
		if err == nil {
			err = Connect(context.Background(), t, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "host": // prints its ticket
		h, err := Listen("tcp", "127.0.0.1:0", relayServer)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(h.Ticket())
		}
		if err == nil {
			select {}
		}
		os.Exit(1)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func relayServer() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), part+"=server")
	return cmd
}

// newHost is a host whose servers hold locks in a folder, each its own.
func newHost(t *testing.T, network string) (*Host, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no connection can be handed over there")
	}
	dir, n := t.TempDir(), 0
	address := "127.0.0.1:0"
	if network == "unix" {
		short, err := os.MkdirTemp("", "relay-")
		must(t, err)
		t.Cleanup(func() { os.RemoveAll(short) })
		address = filepath.Join(short, "s")
	}
	h, err := Listen(network, address, func() *exec.Cmd {
		cmd := relayServer()
		n++
		cmd.Env = append(cmd.Env, held+"="+filepath.Join(dir, fmt.Sprint(n)))
		return cmd
	})
	must(t, err)
	t.Cleanup(func() {
		h.Close()
		for range maxServers { // each server has ended, and writes nothing into the folder any more
			h.servers <- struct{}{}
		}
	})
	return h, dir
}

// free waits until the lock of a server is free.
func free(t *testing.T, path string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- filelock.Wait(path) }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(kit.Patience):
		t.Fatal("the server goes on")
	}
}

// A client is the program inside.
type client struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, ticket Ticket) *client {
	t.Helper()
	file := filepath.Join(t.TempDir(), "relay.json")
	text, err := json.Marshal(ticket)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
	c := &client{Cmd: exec.Command(os.Args[0], file)}
	c.Env = append(os.Environ(), part+"=client")
	c.in, err = c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	c.out = bufio.NewScanner(out)
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func (c *client) says(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	must(t, err)
	if !c.out.Scan() || c.out.Text() != "you said "+line {
		t.Fatalf("it answers %q, %v", c.out.Text(), c.out.Err())
	}
}

// TestTheServerEndsWithItsClient: by kill -9, by the end of its input, and by that of the host.
func TestTheServerEndsWithItsClient(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		h, dir := newHost(t, network)
		one, two := start(t, h.Ticket()), (*client)(nil)
		one.says(t, "hello")
		two = start(t, h.Ticket())
		two.says(t, "hello, too")
		began := time.Now()
		must(t, one.Process.Kill())
		free(t, filepath.Join(dir, "1"))
		t.Logf("%s: the server has ended %v after kill -9", network, time.Since(began))
		two.says(t, "still there")
		must(t, two.in.Close())
		free(t, filepath.Join(dir, "2"))
		if err := two.Wait(); err != nil {
			t.Errorf("a client whose input has ended: %v", err)
		}
	}
}

// TestTheServersDieWithTheirHost by kill -9.
func TestTheServersDieWithTheirHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere they end with their clients")
	}
	lock := filepath.Join(t.TempDir(), "lock")
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), part+"=host", held+"="+lock)
	out, err := host.StdoutPipe()
	must(t, err)
	must(t, host.Start())
	t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	var ticket Ticket
	must(t, json.NewDecoder(out).Decode(&ticket))
	c := start(t, ticket)
	c.says(t, "hello")
	must(t, host.Process.Kill())
	free(t, lock)
	if c.out.Scan() {
		t.Errorf("it still answers %q", c.out.Text())
	}
}

// TestNobodyConnectsWithoutTheToken: the address alone is worth nothing, nor is a part of the token or another one.
func TestNobodyConnectsWithoutTheToken(t *testing.T) {
	h, dir := newHost(t, "tcp")
	right := h.Ticket().Token
	for _, token := range []string{"", right[1:], right + "x", strings.Repeat("x", len(right)), strings.Repeat("x", 4*maxLine), right + "\r"} {
		ticket := h.Ticket()
		ticket.Token = token
		var out bytes.Buffer
		if err := Connect(t.Context(), ticket, strings.NewReader("hello\n"), &out); err == nil || out.Len() > 0 {
			t.Errorf("with %q it is answered %q, %v", token, &out, err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("servers were started: %v", list)
	}
	start(t, h.Ticket()).says(t, "hello")
}

// TestConnectionsAreBounded: pending connections block nobody once they are closed, and one connection too many is answered with busy.
func TestConnectionsAreBounded(t *testing.T) {
	h, _ := newHost(t, "tcp")
	var silent []net.Conn
	for range maxPending + 4 {
		c, err := net.Dial("tcp", h.Ticket().Address)
		must(t, err)
		silent = append(silent, c)
	}
	for _, c := range silent[maxPending:] { // closed at once
		_ = c.SetDeadline(time.Now().Add(kit.Patience))
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("it is answered: %v", err)
		}
	}
	for _, c := range silent {
		must(t, c.Close())
	}
	connected := func() (stream, string, error) {
		c, err := net.Dial("tcp", h.Ticket().Address)
		must(t, err)
		_ = c.SetDeadline(time.Now().Add(kit.Patience))
		_, _ = io.WriteString(c, h.Ticket().Token+"\n")
		answer, err := readLine(c)
		return c.(stream), answer, err
	}
	var open []stream
	for tries := 0; len(open) < maxServers; tries++ {
		c, answer, err := connected() // the silent ones may not be gone yet
		if err == nil && answer == accepted {
			open = append(open, c)
		} else if tries > 10_000 {
			t.Fatalf("%d are let in, and then %q, %v", len(open), answer, err)
		}
	}
	answer := ""
	kit.Eventually(t, "one too many is answered", func() (ok bool) { // as above
		c, text, err := connected()
		c.Close()
		answer = text
		return err == nil
	})
	if answer != busy {
		t.Errorf("one too many is answered %q", answer)
	}
	for _, c := range open {
		c.Close()
	}
}
