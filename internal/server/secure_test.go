//go:build unix

package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/tlstest"
)

// TestWithTLSItMayListenAnywhere, and is called by the names that a person allowed.
func TestWithTLSItMayListenAnywhere(t *testing.T) {
	t.Parallel()
	cert, key, trust := tlstest.Certificate(t, "ferrus.example")
	o := opened(t, newProject(t, `"true"`), "--http", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--allow-host", "ferrus.example")
	if o.scheme != "https" {
		t.Fatalf("it says %s", o.scheme)
	}
	_, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		t.Fatal(err)
	}
	o.addr = "ferrus.example:" + port
	o.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		}}}
	for _, transport := range transports {
		if r := o.visit(t, transport, state.Supervisor, nil).call("status", nil); r.Next != "create_task" {
			t.Errorf("%s: %+v", transport, r)
		}
	}
	if resp := o.raw(t, "GET", "/healthz", "", "", nil); resp.StatusCode != 200 || resp.Proto != "HTTP/1.1" {
		t.Errorf("healthz: %s %s", resp.Proto, resp.Status)
	}
	plain, err := http.Get("http://127.0.0.1:" + port + "/healthz")
	if err == nil {
		plain.Body.Close()
		if plain.StatusCode == 200 {
			t.Error("it is served without TLS, too")
		}
	}
	if code, _ := o.exit(o.signal(syscall.SIGTERM)); code != 143 || strings.Count(o.stderr.String(), "\n") != 1 {
		t.Errorf("exit %d, stderr %q", code, o.stderr)
	}
}

// TestASocketOutlivesItsServer, killed, and is taken over by the next; two servers are never at one.
func TestASocketOutlivesItsServer(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	path := filepath.Join(t.TempDir(), "ferrus.sock")
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	begin := func() *wire {
		w := start(t, "ferrusd", dir, "--unix", path)
		every, over := time.NewTicker(time.Millisecond), time.After(kit.Patience)
		defer every.Stop()
		for !strings.Contains(w.stderr.String(), "msg=listening socket="+path) {
			select {
			case <-every.C:
			case <-over:
				t.Fatalf("stderr %s", w.stderr)
			}
		}
		resp, err := hc.Get("http://localhost/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("healthz: %s", resp.Status)
		}
		return w
	}
	w := begin()
	second := start(t, "ferrusd", dir, "--unix", path)
	if code, _ := second.exit(func() {}); code != 1 || !strings.Contains(second.stderr.String(), "another ferrus") {
		t.Errorf("a second server: exit %d, stderr %s", code, second.stderr)
	}
	w.exit(w.signal(syscall.SIGKILL))
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("a killed server removed its socket: %v", err)
	}
	w = begin()
	if code, _ := w.exit(w.signal(syscall.SIGINT)); code != 130 {
		t.Errorf("exit %d", code)
	}
}
