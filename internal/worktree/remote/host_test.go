package remote_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

// A host is a bare repository that has the branch main of a work tree.
type host struct {
	dir  string // the repository
	main string // its commit
	counter
}

// A counter counts what connections carry.
type counter struct{ up, down atomic.Int64 }

// newHost makes one for the work tree in dir, which gets the remote origin.
func newHost(t testing.TB, dir string) *host {
	t.Helper()
	h := (&host{dir: dir, main: head(t, dir)}).copy(t)
	runGit(t, dir, "remote", "add", "origin", h.dir)
	runGit(t, dir, "fetch", "-q", "origin")
	return h
}

// copy is another host with the same branches.
func (h *host) copy(t testing.TB) *host {
	t.Helper()
	c := &host{dir: filepath.Join(t.TempDir(), "host.git"), main: h.main}
	runGit(t, h.dir, "clone", "-q", "--bare", "--template=", h.dir, c.dir)
	runGit(t, c.dir, "config", "http.receivepack", "true")
	return c
}

func head(t testing.TB, dir string) string {
	t.Helper()
	return strings.TrimSpace(runGit(t, dir, "rev-parse", "HEAD"))
}

// by returns an address of the host by path, git daemon or smart http. The last two are counted.
func (h *host) by(t testing.TB, kind string) string {
	t.Helper()
	switch kind {
	case "daemon":
		return "git://" + h.daemon(t) + "/host.git"
	case "http":
		return h.http(t, nil) + "/host.git"
	}
	return h.dir
}

// daemon runs git daemon for each connection, as inetd does.
func (h *host) daemon(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			calls.Go(func() {
				defer conn.Close()
				counted := &countedConn{conn, &h.counter}
				cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+filepath.Dir(h.dir))
				cmd.Stdout = counted
				in, err := cmd.StdinPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				go func() {
					io.Copy(in, counted)
					in.Close()
				}()
				_ = cmd.Wait() // it fails where the client has gone
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		calls.Wait()
	})
	return l.Addr().String()
}

// http runs git http-backend. pass may answer a request itself and say no.
func (h *host) http(t testing.TB, pass func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Stderr: io.Discard,
		Env:        []string{"GIT_PROJECT_ROOT=" + filepath.Dir(h.dir), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody"},
		InheritEnv: []string{"PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pass == nil || pass(w, r) {
			backend.ServeHTTP(w, r)
		}
	}))
	server.Listener = countedListener{server.Listener, &h.counter}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

type countedListener struct {
	net.Listener
	*counter
}

func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &countedConn{conn, l.counter}, err
}

type countedConn struct {
	net.Conn
	*counter
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.up.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.down.Add(int64(n))
	return n, err
}

// refs are those of ferrus that the host has, by their names.
func (h *host) refs(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(runGit(t, h.dir, "for-each-ref", "--format=%(refname) %(objectname)")) {
		if name, commit, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(name, "/ferrus/") {
			all[name] = commit
		}
	}
	return all
}

// hook gives the host a hook.
func (h *host) hook(t testing.TB, name, script string) {
	t.Helper()
	executable(t, filepath.Join(h.dir, "hooks", name), script)
}

func executable(t testing.TB, path, script string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// clone is another machine's work tree with the same history, and the remote origin.
func (h *host) clone(t testing.TB, options ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	runGit(t, h.dir, append(append([]string{"clone", "-q", "--template="}, options...), "file://"+h.dir, dir)...)
	return dir
}

// openRemote opens the remote of project p.
func openRemote(t testing.TB, tree *worktree.Tree, name string, o ...remote.Options) *remote.Remote {
	t.Helper()
	all := remote.Options{}
	if len(o) > 0 {
		all = o[0]
	}
	all.Remote, all.Project = name, "p"
	r, err := remote.Open(t.Context(), tree.Repository, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func epoch(n uint64, commit string) remote.Ref {
	return remote.Ref{Task: "t", Epoch: n, Commit: commit}
}

// push pushes the files as they are now.
func push(t testing.TB, tree *worktree.Tree, r *remote.Remote, at remote.Ref, base string) remote.Ref {
	t.Helper()
	to, err := r.Push(t.Context(), at, fingerprint(t, tree), base)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// is reports whether an error has a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
