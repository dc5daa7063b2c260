package postgrestest

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A Direction is one of the two in which bytes pass a proxy.
type Direction int

// The directions of a proxy.
const (
	ToServer Direction = iota
	ToClient
)

// A Proxy is between clients and one server. A test tells it to cut a connection at a byte, or to let nothing through.
type Proxy struct {
	// URL leads to the database through the proxy.
	URL string

	network, address string // of the server
	listener         net.Listener
	serving          sync.WaitGroup

	gate        sync.RWMutex // bytes pass under the lock of a reader; a partition is that of a writer
	partitioned bool

	mu     sync.Mutex
	cuts   [2]*cut // by Direction; nil: none
	passed [2]int  // bytes, by Direction
	asked  int     // requests
	links  map[*link]bool
	closed bool
}

// A cut is what happens to the connection that brings one byte more than may pass.
type cut struct {
	after int
	made  chan struct{}
}

// A link is a connection through the proxy: its two ends.
type link struct{ client, server halfCloser }

type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// NewProxy starts a proxy to the server of a URL, which is one of this package and names one server. It ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{links: map[*link]bool{}}
	settings := u.Query()
	host, port := settings.Get("host"), settings.Get("port")
	p.network, p.address = "tcp", net.JoinHostPort(host, port)
	listen := net.JoinHostPort(loopback, "0")
	if filepath.IsAbs(host) {
		program.Lock()
		host, err = program.folder.sub(next())
		program.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(host) })
		p.network, p.address = "unix", socket(settings.Get("host"), port)
		listen = socket(host, port)
	}
	if p.listener, err = net.Listen(p.network, listen); err != nil {
		t.Fatal(err)
	}
	if tcp, ok := p.listener.Addr().(*net.TCPAddr); ok {
		_, port, _ = net.SplitHostPort(tcp.String())
	}
	p.URL = located(*u, host, port)
	t.Cleanup(p.close)
	p.serving.Go(p.accept)
	return p
}

// socket is the path of the socket of a server.
func socket(dir, port string) string { return filepath.Join(dir, ".s.PGSQL."+port) }

// Cut lets so many bytes more pass in a direction, on all connections together. The connection that brings the next one is cut:
// both ends have got what passed, and then see it closed. made is closed then. Only one connection is cut, or none after Heal.
func (p *Proxy) Cut(d Direction, after int) (made <-chan struct{}) {
	c := &cut{after, make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts[d] = c
	return c.made
}

// Partition lets nothing through from now on, and neither end is told: not even that the other has closed the connection, and
// not to those who connect. What is sent waits for Heal, as in the buffers of a network.
func (p *Proxy) Partition() {
	p.gate.Lock()
	p.partitioned = true
}

// Heal lets everything through again, first what was sent during a partition, and cancels cuts.
func (p *Proxy) Heal() {
	p.mu.Lock()
	p.cuts = [2]*cut{}
	p.mu.Unlock()
	if p.partitioned {
		p.partitioned = false
		p.gate.Unlock()
	}
}

// Sever closes all connections at both ends. What was on the way is lost. New connections are possible.
func (p *Proxy) Sever() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.client.Close()
		l.server.Close()
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.Sever()
	p.Heal()
	p.serving.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.serving.Go(func() { p.serve(client.(halfCloser)) })
	}
}

// serve connects a client to the server, until both have ended the connection.
func (p *Proxy) serve(client halfCloser) {
	defer client.Close()
	p.gate.RLock()
	server, err := net.Dial(p.network, p.address)
	p.gate.RUnlock()
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{client, server.(halfCloser)}
	p.mu.Lock()
	p.links[l] = true
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		var pumps sync.WaitGroup
		pumps.Go(func() { p.pump(l, ToServer, l.client, l.server) })
		pumps.Go(func() { p.pump(l, ToClient, l.server, l.client) })
		pumps.Wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// pump copies one direction of a link until it ends. What an end does not take any more is lost, and the other direction goes on.
func (p *Proxy) pump(l *link, d Direction, from, to halfCloser) {
	buffer := make([]byte, 1<<15)
	var requests requests
	for {
		n, err := from.Read(buffer)
		p.count(d, buffer[:n], &requests)
		if n > 0 && !p.pass(l, d, to, buffer[:n]) {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if err != nil {
			p.gate.RLock()
			defer p.gate.RUnlock()
			_ = to.CloseWrite()
			return
		}
	}
}

// pass writes to an end what may pass, and reports whether more may.
func (p *Proxy) pass(l *link, d Direction, to net.Conn, data []byte) bool {
	p.gate.RLock()
	defer p.gate.RUnlock()
	n, c := p.allow(d, len(data))
	_, err := to.Write(data[:n])
	if c != nil {
		l.client.Close()
		_ = l.server.CloseWrite()
		close(c.made)
	}
	return err == nil && c == nil
}

// allow returns how many of n bytes may pass, and the cut that comes then.
func (p *Proxy) allow(d Direction, n int) (int, *cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cuts[d]
	if c == nil {
		return n, nil
	}
	if n <= c.after {
		c.after -= n
		return n, nil
	}
	p.cuts[d] = nil
	return c.after, c
}
