//go:build unix

package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestASocketIsItsOwnersAlone, and is served by the same rules.
func TestASocketIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t)
	other := &place{t: t, site: p.site}
	other.run(l)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v %v", info.Mode(), err)
	}
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	ask := func(header map[string]string) (int, string) {
		t.Helper()
		r := first(boss)["legacy POST"].with(header)
		req, err := http.NewRequest(r.method, "http://localhost"+r.path, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range r.header {
			req.Header.Set(k, v)
		}
		if host := r.header["Host"]; host != "" {
			req.Host = host
		}
		resp, err := hc.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	for _, c := range []struct {
		header map[string]string
		status int
	}{
		{nil, 200}, {map[string]string{"Authorization": "Bearer x"}, 401}, {map[string]string{"Authorization": ""}, 401},
		{map[string]string{"Host": "evil.example"}, 403}, {map[string]string{"Origin": "http://localhost"}, 403},
	} {
		if status, text := ask(c.header); status != c.status {
			t.Errorf("%v: %d %s", c.header, status, text)
		}
	}
	if _, err := ListenUnix(path); err == nil {
		t.Error("a second server listens at the same socket")
	}
	if err := other.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// TestALeftoverSocketIsReplaced, but nothing that is in use or is something else.
func TestALeftoverSocketIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	stranger, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "listens") {
		t.Errorf("a stranger's socket: %v", err)
	}
	stranger.SetUnlinkOnClose(false) // as SIGKILL would leave it
	stranger.Close()
	for range 2 {
		l, err := ListenUnix(path)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "no/such"} {
		if _, err := ListenUnix(filepath.Join(dir, name)); err == nil {
			t.Errorf("it listens at %s", name)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("the file: %q %v", text, err)
	}
	for _, mode := range []os.FileMode{0o770, 0o702, 0o777 | os.ModeSticky} {
		open := filepath.Join(dir, "open")
		if err := os.Mkdir(open, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		if err := os.Chmod(open, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ListenUnix(filepath.Join(open, "s")); !errors.Is(err, ErrUnsafe) {
			t.Errorf("in a folder of mode %v: %v", mode, err)
		}
	}
}
