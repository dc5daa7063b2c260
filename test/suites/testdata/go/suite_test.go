// Package suite tests what tests of other projects use.
package suite

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// kept writes a file and reads it again.
func kept(t *testing.T, dir string) {
	t.Helper()
	f := must(os.CreateTemp(dir, "suite-*"))(t)
	defer os.Remove(f.Name())
	must(f.WriteString("kept"))(t)
	if text := must(os.ReadFile(f.Name()))(t); string(text) != "kept" {
		t.Errorf("%s: %q", f.Name(), text)
	}
}

func TestLoopbackHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer s.Close()
	res := must(http.Get(s.URL))(t)
	defer res.Body.Close()
	if text := must(io.ReadAll(res.Body))(t); string(text) != "hello" {
		t.Errorf("%q", text)
	}
}

// TestUnixSocket has a relative path: TMPDIR can be longer than that of a socket may be.
func TestUnixSocket(t *testing.T) {
	t.Chdir(t.TempDir())
	l := must(net.Listen("unix", "s"))(t)
	defer l.Close()
	must(net.Dial("unix", l.Addr().String()))(t).Close()
}

func TestHome(t *testing.T)   { kept(t, must(os.UserHomeDir())(t)) }
func TestTMPDIR(t *testing.T) { kept(t, os.Getenv("TMPDIR")) }
func TestTmp(t *testing.T)    { kept(t, "/tmp") }
func TestShm(t *testing.T)    { kept(t, "/dev/shm") }

func TestGit(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []string{"init -q", "-c user.name=u -c user.email=u@example.com commit -q --allow-empty -m begin", "log --format=%s"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
}

func TestProc(t *testing.T) {
	for _, name := range []string{"/proc/self/status", "/proc/cpuinfo", "/proc/meminfo"} {
		must(os.ReadFile(name))(t)
	}
}

func TestModule(t *testing.T) {
	if diff := cmp.Diff("a", "a"); diff != "" {
		t.Error(diff)
	}
}
