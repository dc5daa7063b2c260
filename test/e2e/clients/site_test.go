//go:build unix

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// A site is `ferrus serve --http` at work.
type site struct {
	r        *rig
	urls     map[string]string // by way
	err      string            // a file
	shutdown func()
}

func (r *rig) serve(args ...string) *site {
	r.t.Helper()
	s := &site{r: r, err: filepath.Join(r.base, "serve.err")}
	f, err := os.Create(s.err)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	cmd := r.command(context.Background(), ferrus, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = f
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	s.shutdown = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended, which the next line sees
		select {
		case err := <-done:
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
				r.t.Errorf("the server: %v\n%s", err, s.text())
			}
		case <-time.After(patience):
			r.t.Errorf("the server does not end")
		}
	}
	kit.Eventually(r.t, "an address", func() bool {
		s.urls = map[string]string{}
		line, _, whole := strings.Cut(r.text(s.err), "\n")
		for field := range strings.FieldsSeq(line) {
			if key, value, ok := strings.Cut(field, "="); ok {
				s.urls[map[string]string{"url": "http", "sse": overSSE}[key]] = value
			}
		}
		return whole && s.urls["http"] != "" && s.urls[overSSE] != ""
	})
	return s
}

// stop ends the server as a service manager would.
func (s *site) stop() {
	s.r.t.Helper()
	s.shutdown()
	if s.r.t.Failed() {
		s.r.t.Log(s.text())
	}
}

// token makes a token, and returns its secret.
func (s *site) token(role state.Role, name string) string {
	s.r.t.Helper()
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(s.r.must(ferrus, "token", "new", "--role", string(role), "--name", name, "--json")), &made); err != nil {
		s.r.t.Fatal(err)
	}
	return made.Secret
}

// text is all that the server has said and written down about itself.
func (s *site) text() string {
	files, _ := filepath.Glob(s.r.path(".ferrus/logs/serve-*.log"))
	all := s.r.text(s.err)
	for _, file := range files {
		all += s.r.text(file)
	}
	return all
}

// keepsNo finds a secret in nothing that the server says or writes, its log included.
func (s *site) keepsNo(secret string) {
	s.r.t.Helper()
	if code, out := s.r.run("grep", "-rF", "-e", secret, ".ferrus", s.err); code != 1 {
		s.r.t.Errorf("a secret is stored in\n%s", out)
	}
}

// A logged is a line of the server's log, as far as the tests read it.
type logged struct {
	Msg, Name, Transport, Tool, Code string
	Status                           any // of HTTP, or of a tool
}

func (s *site) log() []logged {
	s.r.t.Helper()
	var lines []logged
	for line := range strings.Lines(s.text()) {
		var l logged
		if json.Unmarshal([]byte(line), &l) == nil { // stderr is no JSON
			lines = append(lines, l)
		}
	}
	return lines
}

// refused is how many requests were refused for their token.
func (s *site) refused() int {
	s.r.t.Helper()
	count := 0
	for _, l := range s.log() {
		if l.Msg == "refused" && l.Status == float64(401) {
			count++
		}
	}
	return count
}

// connect starts a client that finds the server by a configuration of its own, and its token in the environment.
func (r *rig) connect(agent string, s *site, way, secret, prompt string) *client {
	r.t.Helper()
	argv := []string{"exec", "--skip-git-repo-check", prompt}
	switch agent {
	case claude:
		file := filepath.Join(r.base, "mcp.json")
		r.write(file, fmt.Sprintf(`{"mcpServers": {"ferrus": {"type": %q, "url": %q, "headers": {"Authorization": "Bearer ${FERRUS_TOKEN}"}}}}`,
			way, s.urls[way]))
		argv = []string{"-p", prompt, "--strict-mcp-config", "--mcp-config=" + file, "--permission-mode=acceptEdits",
			"--allowedTools=mcp__ferrus,Bash,Edit,Write"}
	case codex:
		r.write(filepath.Join(r.base, "home/.codex/config.toml"), "sandbox_mode = \"workspace-write\"\napproval_policy = \"never\"\n"+
			model.CodexConfig(r.model.URL("codex"))+fmt.Sprintf(codexServer, s.urls[way]))
	}
	out, err := os.CreateTemp(r.base, agent+"-*.out")
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	cmd := r.command(context.Background(), r.program(agent), argv...)
	cmd.Env = append(slices.Clone(r.env), "FERRUS_TOKEN="+secret)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c := &client{done: make(chan error, 1), out: out.Name()}
	go func() { c.done <- cmd.Wait() }()
	return c
}

// program is the path of a client.
func (r *rig) program(agent string) string {
	r.t.Helper()
	adapter, err := agents.Find(agent)
	if err != nil {
		r.t.Fatal(err)
	}
	path, err := adapter.Path(r.env)
	if err != nil {
		r.t.Fatal(err)
	}
	return path
}

const codexServer = `
[features]
plugins = false

[mcp_servers.ferrus]
url = %q
bearer_token_env_var = "FERRUS_TOKEN"
required = true
startup_timeout_sec = 60
tool_timeout_sec = 120
default_tools_approval_mode = "approve"
`
