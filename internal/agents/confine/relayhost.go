package confine

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// Limits of the connections of a run. Clients connect again, and their subagents each have a server.
const (
	maxServers = 16 // that run at a time
	maxPending = 16 // connections at a time that have not shown the token yet
)

// A Host listens for the clients of one run. Its servers are children of this process and die with it.
type Host struct {
	listener net.Listener
	ticket   Ticket
	command  func() *exec.Cmd

	starts  chan stream
	pending chan struct{}
	servers chan struct{}
	closed  chan struct{}
	once    sync.Once
	working sync.WaitGroup
}

// Listen makes a host at an address: of the network tcp a loopback one with port 0, of unix a path that is free. command returns
// the server of a connection, without its streams; its standard error stays as it is.
func Listen(network, address string, command func() *exec.Cmd) (*Host, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("listen for the agent: %w", err)
	}
	h := &Host{listener: l, ticket: Ticket{network, l.Addr().String(), newToken()}, command: command, starts: make(chan stream),
		pending: make(chan struct{}, maxPending), servers: make(chan struct{}, maxServers), closed: make(chan struct{})}
	h.working.Go(h.accept)
	go h.start()
	return h, nil
}

// Ticket is what a client of the run needs.
func (h *Host) Ticket() Ticket { return h.ticket }

// Close takes no further connections. Servers that run end when their clients do.
func (h *Host) Close() {
	h.once.Do(func() {
		close(h.closed)
		h.listener.Close()
	})
	h.working.Wait()
}

// accept takes connections until the host is closed. A few at a time are pending: they have not shown the token yet. One more is
// closed at once, and each has a deadline, so that programs without the token cannot block the client for long.
func (h *Host) accept() {
	for {
		c, err := h.listener.Accept()
		if err != nil {
			select {
			case <-h.closed:
				return
			case <-time.After(50 * time.Millisecond): // such as too many open files
				continue
			}
		}
		select {
		case h.pending <- struct{}{}:
			h.working.Go(func() {
				h.admit(c.(stream))
				<-h.pending
			})
		default:
			c.Close()
		}
	}
}

// admit hands a connection with the token to a server, and closes any other.
func (h *Host) admit(c stream) {
	refused := make(chan struct{})
	defer close(refused)
	go func() { // a host that is closed waits for no token
		select {
		case <-h.closed:
			_ = c.SetDeadline(time.Unix(1, 0))
		case <-refused:
		}
	}()
	_ = c.SetDeadline(time.Now().Add(patience))
	token, err := readLine(c)
	if err != nil || !same(token, h.ticket.Token) {
		c.Close()
		return
	}
	select {
	case h.servers <- struct{}{}:
	default:
		_, _ = io.WriteString(c, busy+"\n")
		c.Close()
		return
	}
	if _, err := io.WriteString(c, accepted+"\n"); err != nil {
		<-h.servers
		c.Close()
		return
	}
	select {
	case h.starts <- c:
	case <-h.closed:
		<-h.servers
		c.Close()
	}
}

// start starts servers, all in one thread: the kernel ties the death of a child to the thread that started it. It stays until this
// process ends, so that a server whose client has left can end by itself.
func (h *Host) start() {
	runtime.LockOSThread()
	for c := range h.starts {
		if err := h.serve(c); err != nil {
			<-h.servers
		}
		c.Close() // the server has its own
	}
}

// serve starts the server of a connection, with the connection as its standard streams.
func (h *Host) serve(c stream) error {
	_ = c.SetDeadline(time.Time{})
	f, err := c.File()
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := h.command()
	cmd.Stdin, cmd.Stdout, cmd.SysProcAttr = f, f, proc.Bound(false)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait() // how a server ends is in its own log
		<-h.servers
	}()
	return nil
}
