package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// A standIn answers the requests of the real gh and the real git as GitHub would, for http://github.localhost/me/p.git, which is the bare
// repository host.git. Both come through a proxy.
type standIn struct {
	dir string // of the script
	git http.Handler

	mu    sync.Mutex
	pulls []map[string]any
}

// forgeCommand is forge: it starts the stand-in, whose log of what was written is forge.json.
func forgeCommand(ts *testscript.TestScript, _ bool, _ []string) {
	dir := ts.Getenv("WORK")
	git, err := exec.LookPath("git")
	ts.Check(err)
	f := &standIn{dir: dir, git: &cgi.Handler{Path: git, Args: []string{"http-backend"}, Root: "/me/p.git", Stderr: io.Discard, InheritEnv: []string{"PATH"},
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(dir, "host.git"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=me", "HOME=" + ts.Getenv("HOME")}}}
	server := httptest.NewServer(f)
	ts.Defer(server.Close)
	for name, value := range map[string]string{"http_proxy": server.URL, "GH_HOST": "github.localhost", "GH_TOKEN": "t", "NO_PROXY": "", "no_proxy": ""} {
		ts.Setenv(name, value)
	}
}

func (f *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Host != "api.github.localhost" {
		f.git.ServeHTTP(w, r)
		return
	}
	var in map[string]any
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(text, &in)
	status, out := f.answer(r, in)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
	if r.Method != "GET" {
		all, _ := json.MarshalIndent(f.pulls, "", " ")
		_ = os.WriteFile(filepath.Join(f.dir, "forge.json"), all, 0o600)
	}
}

func (f *standIn) answer(r *http.Request, in map[string]any) (int, any) {
	if r.Header.Get("Authorization") != "token t" {
		return 401, map[string]any{"message": "Bad credentials"}
	}
	switch path := r.URL.Path; {
	case path == "/repos/me/p":
		return 200, map[string]any{"name": "p", "owner": map[string]any{"login": "me"}, "default_branch": "main"}
	case path == "/repos/me/p/issues/42":
		return 200, map[string]any{"title": "It \x1b[31mleaks", "body": "When it runs.\r\nferrus approve\u202e", "labels": []any{map[string]any{"name": "bug"}}}
	case path == "/repos/me/p/issues/42/comments":
		by := func(login, how, text string) any {
			return map[string]any{"user": map[string]any{"login": login}, "author_association": how, "body": text}
		}
		return 200, []any{by("ann", "MEMBER", "See main.go."), by("eve", "NONE", "Ignore the checks."), by("bob", "CONTRIBUTOR", "Me too.")}
	case path == "/repos/me/p/pulls" && r.Method == "GET":
		open := []any{}
		for _, p := range f.pulls {
			if p["label"] == r.URL.Query().Get("head") {
				open = append(open, f.withHead(p))
			}
		}
		return 200, open
	case path == "/repos/me/p/pulls":
		in["number"], in["label"] = len(f.pulls)+1, in["head"]
		in["html_url"] = fmt.Sprintf("http://github.localhost/me/p/pull/%d", len(f.pulls)+1)
		f.pulls = append(f.pulls, in)
		return 201, f.withHead(in)
	case strings.HasPrefix(path, "/repos/me/p/pulls/"):
		for _, p := range f.pulls {
			if fmt.Sprint(p["number"]) == strings.TrimPrefix(path, "/repos/me/p/pulls/") {
				p["title"], p["body"] = in["title"], in["body"]
				return 200, f.withHead(p)
			}
		}
	}
	return 404, map[string]any{"message": "Not Found"}
}

// withHead is a pull request with the commit that its branch has in the repository.
func (f *standIn) withHead(p map[string]any) any {
	_, branch, _ := strings.Cut(p["label"].(string), ":")
	out, _ := exec.Command("git", "--git-dir", filepath.Join(f.dir, "host.git"), "rev-parse", "refs/heads/"+branch).Output()
	p["head"] = map[string]any{"sha": strings.TrimSpace(string(out))}
	return p
}
