package web

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/test/kit"
)

// TestItEndsAtOnce, whatever is open: streams, calls that wait, connections that say nothing and clients that read
// nothing.
func TestItEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var streams []io.Reader
	for i := range 50 {
		if i%2 == 0 {
			_, stream, _ := p.openSSE(boss)
			streams = append(streams, stream)
			continue
		}
		id := p.openLegacy(boss)
		resp := p.send(first(boss)["legacy POST"].with(map[string]string{"Mcp-Session-Id": id}).as("GET", ""))
		if resp.StatusCode != 200 {
			t.Fatal(resp.Status)
		}
		streams = append(streams, resp.Body)
	}
	for _, transport := range transports {
		for range 5 {
			c, err := p.dial(t.Context(), transport, worker, nil)
			if err != nil {
				t.Fatal(err)
			}
			go call(context.Background(), c, "hold")
			eventually(t, p.held, transport)
		}
	}
	var silent []net.Conn
	for range 5 {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	began := time.Now()
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	t.Logf("50 streams and 15 calls ended in %v", time.Since(began))
	for range 15 {
		eventually(t, p.let, "a call")
	}
	for _, s := range streams {
		if _, err := io.ReadAll(s); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	for _, c := range silent {
		if err := c.SetReadDeadline(time.Now().Add(kit.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection is left: %v", err)
		}
	}
	if _, err := net.Dial("tcp", p.addr); err == nil {
		t.Error("it still listens")
	}
}

// TestNothingIsLeftOfAClient: neither a session nor a token in use nor a count.
func TestNothingIsLeftOfAClient(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for range 3 {
		for _, transport := range transports {
			c, err := p.dial(t.Context(), transport, boss, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := call(t.Context(), c, "who"); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil && !strings.Contains(err.Error(), "EOF") {
				t.Errorf("%s: %v", transport, err)
			}
		}
		// A session that is refused at birth, and one that never is one.
		for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
			p.status(first(boss)["legacy POST"].as("POST", body))
		}
	}
	kit.Eventually(t, "nothing is left", func() bool {
		s := p.site
		s.sessions.mu.Lock()
		defer s.sessions.mu.Unlock()
		s.bearers.mu.Lock()
		defer s.bearers.mu.Unlock()
		s.posts.mu.Lock()
		defer s.posts.mu.Unlock()
		s.calls.mu.Lock()
		defer s.calls.mu.Unlock()
		left := 0
		for _, server := range s.opts.Servers {
			for range server.Sessions() {
				left++
			}
		}
		return len(s.sessions.all)+len(s.bearers.all)+s.posts.sum+len(s.posts.of)+s.calls.sum+len(s.calls.of)+left == 0
	})
}

// TestOnlyTheLoopbackUnlessAllowed: by name or by number.
func TestOnlyTheLoopbackUnlessAllowed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		if l, err := Listen(t.Context(), address, false); !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v %v", address, l, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.0.0.2:0"} {
		l, err := Listen(t.Context(), address, false)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if tcp := l.Addr().(*net.TCPAddr); !tcp.IP.IsLoopback() || tcp.Port == 0 {
			t.Errorf("%s: %v", address, tcp)
		}
		l.Close()
	}
	l, err := Listen(t.Context(), "0.0.0.0:0", true)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, address := range []string{"", "localhost", "127.0.0.1:x", "127.0.0.1:99999"} {
		if _, err := Listen(t.Context(), address, false); err == nil || errors.Is(err, ErrExposed) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
