package enginetest

import (
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/sharing"
	"github.com/ferrus-go/ferrus/test/postgrestest"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// Computers makes a project on two computers: a clone of a git repository on each, and one database. Work trees travel by that repository, whose
// path is returned, and which the person's own configuration names. What the first has done in files before is done by the functions.
func Computers(t testing.TB, toml string, before ...func(a *Machine)) (a, b *Machine, host string) {
	t.Helper()
	a = Repository(t, toml)
	a.Lived(map[string]string{"keep.txt": "1\n2\n3\n", "dir/a": "a\n"})
	a.Git("add", "ferrus.toml")
	a.Git("commit", "-q", "-m", "checks")
	base := filepath.Dir(a.Dir)
	host = filepath.Join(base, "host.git")
	a.Git("clone", "-q", "--bare", "--template=", a.Dir, host)
	a.Git("remote", "add", "origin", host)
	b = &Machine{T: t, Dir: filepath.Join(base, "b", "project"), Side: filepath.Join(base, "b", "side"), Opts: engine.Options{Log: Quiet}}
	if err := os.MkdirAll(b.Side, 0o755); err != nil {
		t.Fatal(err)
	}
	a.Git("clone", "-q", "--template=", host, b.Dir)
	for _, p := range []*Machine{a, b} {
		p.Write(".git/info/exclude", "/.ferrus/\n")
		p.Write("ignored", "mine\n")
	}
	if sharedtest.On() { // Init has moved it already
		t.Skip("it moves a project from files into a database")
	}
	for _, do := range before {
		do(a)
	}
	url := postgrestest.DurableDatabase(t)
	if _, err := sharing.Move(context.Background(), a.Dir, url, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := sharing.Join(context.Background(), b.Dir, url, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Machine{a, b} {
		at, err := project.At(p.Dir, "").Shared()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := at.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	Configured(t, "[store]\ntrees = \""+filepath.ToSlash(host)+"\"\n")
	return a, b, host
}

// Configured writes the person's own configuration, for the time of the test.
func Configured(t testing.TB, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(trust.EnvXDGConf, dir)
	if err := os.Mkdir(filepath.Join(dir, "ferrus"), 0o700); err != nil {
		t.Fatal(err)
	}
	Reconfigured(t, text)
}

// Reconfigured writes it anew.
func Reconfigured(t testing.TB, text string) {
	t.Helper()
	path, err := config.PersonPath()
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Refs are the refs of work trees that a git repository has, with their commits. The id of the project is left out.
func Refs(t testing.TB, host string) map[string]string {
	t.Helper()
	p := &Machine{T: t, Dir: host}
	all := map[string]string{}
	for line := range strings.Lines(p.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/ferrus", "refs/heads/ferrus")) {
		name, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, name, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "refs/ferrus/"), "refs/heads/ferrus/"), "/")
		all[name] = commit
	}
	return all
}

// Serve serves a git repository over http, and returns its address. say may answer a request itself, and then says false.
func Serve(t testing.TB, host string, say func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	(&Machine{T: t, Dir: host}).Git("config", "http.receivepack", "true")
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard,
		Env:        []string{"GIT_PROJECT_ROOT=" + filepath.Dir(host), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody"},
		InheritEnv: []string{"PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if say == nil || say(w, r) {
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(host)
}
