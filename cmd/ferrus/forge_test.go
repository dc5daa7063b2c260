package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A standIn answers the requests of the real gh and the real git as GitHub would, for http://github.localhost/me/p.git, which is the bare
// repository host.git. Both come through a proxy.
//
// What it says of a pull request are files of the folder forge: check-runs, status, comments, reviews, lines (comments on a line), log (of each
// job), and pull, which is added to its answer. fail has the status and the message with which each request fails. If there is limited, all
// requests fail from the first one on, until the time that it says for two seconds later.
type standIn struct {
	dir    string // of the script
	git    http.Handler
	server *http.Server
	at     string

	first int // how many issues are older than its first pull request
	mu    sync.Mutex
	pulls []map[string]any
	looks int // at pull request 1
	reset time.Time
}

type standInKey struct{}

// forgeCommand is forge [ISSUES]: it starts the stand-in, whose log of what was written is forge.json, and of all requests forge.log. forge stop
// has connections refused until forge start. forge looks waits until one who watches has seen all that is so now, and has done what follows.
func forgeCommand(ts *testscript.TestScript, _ bool, args []string) {
	f := ts.Value(standInKey{}).(*standIn)
	if len(args) == 0 {
		args = []string{"0"}
	}
	switch issues, err := strconv.Atoi(args[0]); {
	case err == nil:
		f.first = issues
		f.begin(ts)
	case args[0] == "stop":
		ts.Check(f.server.Close())
	case args[0] == "start":
		ts.Check(f.listen(f.at))
	default:
		looked := func() int { f.mu.Lock(); defer f.mu.Unlock(); return f.looks }
		enough := looked() + 2 // the first of them sees it, and what follows is done before the second
		for end := time.Now().Add(kit.Patience); looked() < enough; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				ts.Fatalf("nobody looks")
			}
		}
	}
}

func (f *standIn) begin(ts *testscript.TestScript) {
	f.dir = ts.Getenv("WORK")
	git, err := exec.LookPath("git")
	ts.Check(err)
	f.git = &cgi.Handler{Path: git, Args: []string{"http-backend"}, Root: "/me/p.git", Stderr: io.Discard, InheritEnv: []string{"PATH"},
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(f.dir, "host.git"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=me", "HOME=" + ts.Getenv("HOME")}}
	ts.Check(f.listen("127.0.0.1:0"))
	ts.Defer(func() { f.server.Close() })
	for name, value := range map[string]string{"http_proxy": "http://" + f.at, "GH_HOST": "github.localhost", "GH_TOKEN": "t", "NO_PROXY": "", "no_proxy": ""} {
		ts.Setenv(name, value)
	}
}

func (f *standIn) listen(at string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	f.at, f.server = l.Addr().String(), &http.Server{Handler: f}
	go f.server.Serve(l)
	return nil
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
	if log, err := os.OpenFile(filepath.Join(f.dir, "forge.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(log, status, r.Method, r.URL.Path)
		log.Close()
	}
	if text, raw := out.([]byte); raw {
		_, _ = w.Write(text)
		return
	}
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
	if r.URL.Path == "/repos/me/p/pulls/1" && r.Method == "GET" {
		f.looks++
	}
	if status, out := f.fails(r); status != 0 {
		return status, out
	}
	if status, out := f.issueAnswer(r); status != 0 {
		return status, out
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
			if p["label"] == r.URL.Query().Get("head") && p["merged"] == nil {
				open = append(open, f.withHead(p))
			}
		}
		return 200, open
	case path == "/repos/me/p/pulls":
		in["number"], in["label"] = f.first+len(f.pulls)+1, in["head"]
		in["html_url"] = fmt.Sprintf("http://github.localhost/me/p/pull/%d", f.first+len(f.pulls)+1)
		f.pulls = append(f.pulls, in)
		return 201, f.withHead(in)
	case strings.HasPrefix(path, "/repos/me/p/git/ref/"):
		if exec.Command("git", "--git-dir", filepath.Join(f.dir, "host.git"), "rev-parse", "--verify", "refs/"+strings.TrimPrefix(path, "/repos/me/p/git/ref/")).Run() == nil {
			return 200, map[string]any{}
		}
	case strings.HasPrefix(path, "/repos/me/p/pulls/"):
		for _, p := range f.pulls {
			if r.Method == "GET" && fmt.Sprint(p["number"]) == strings.TrimPrefix(path, "/repos/me/p/pulls/") {
				return 200, f.withHead(f.changed(p))
			}
			if fmt.Sprint(p["number"]) == strings.TrimPrefix(path, "/repos/me/p/pulls/") {
				p["title"], p["body"] = in["title"], in["body"]
				return 200, f.withHead(p)
			}
		}
	}
	if file := said[regexp.MustCompile(`[0-9a-f]{40}|[0-9]+`).ReplaceAllString(strings.TrimPrefix(r.URL.Path, "/repos/me/p/"), "N")]; file != "" {
		return f.says(file)
	}
	return 404, map[string]any{"message": "Not Found"}
}

// said are the files with the answers to requests, in which N stands for each number and commit.
var said = map[string]string{"commits/N/check-runs": "check-runs", "commits/N/status": "status", "issues/N/comments": "comments", "pulls/N/reviews": "reviews",
	"pulls/N/comments": "lines", "actions/jobs/N/logs": "log"}

// fails is the answer to a request that is to fail, and to one for when requests count anew; status 0 for any other.
func (f *standIn) fails(r *http.Request) (status int, out map[string]any) {
	if r.URL.Path == "/rate_limit" {
		f.reset = time.Now().Add(2 * time.Second).Truncate(time.Second)
		return 200, map[string]any{"resources": map[string]any{"core": map[string]any{"remaining": 0, "reset": f.reset.Unix()}}}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "forge", "limited")); err == nil && (f.reset.IsZero() || time.Now().Before(f.reset)) {
		return 403, map[string]any{"message": "API rate limit exceeded for user ID 1."}
	}
	text, _ := os.ReadFile(filepath.Join(f.dir, "forge", "fail"))
	if code, message, ok := strings.Cut(string(text), " "); ok {
		status, _ = strconv.Atoi(code)
		return status, map[string]any{"message": strings.TrimSpace(message)}
	}
	return 0, nil
}

// says is what a file of the script says, an empty list if there is none.
func (f *standIn) says(file string) (int, any) {
	text, err := os.ReadFile(filepath.Join(f.dir, "forge", file))
	var out any
	switch {
	case err == nil && file == "log":
		return 200, text
	case err == nil && json.Unmarshal(text, &out) == nil:
		return 200, out
	case file == "log":
		return 404, map[string]any{"message": "Not Found"}
	case file == "status" || file == "check-runs":
		return 200, map[string]any{}
	}
	return 200, []any{}
}

// changed is a pull request with what its file says.
func (f *standIn) changed(p map[string]any) map[string]any {
	out := maps.Clone(p)
	text, _ := os.ReadFile(filepath.Join(f.dir, "forge", "pull"))
	_ = json.Unmarshal(text, &out)
	return out
}

// withHead is a pull request with the commit that its branch has in the repository.
func (f *standIn) withHead(p map[string]any) any {
	_, branch, _ := strings.Cut(p["label"].(string), ":")
	out, err := exec.Command("git", "--git-dir", filepath.Join(f.dir, "host.git"), "rev-parse", "--verify", "refs/heads/"+branch).Output()
	if sha := strings.TrimSpace(string(out)); err == nil { // of one whose branch is gone it stays
		p["head"] = map[string]any{"sha": sha}
	}
	return p
}
