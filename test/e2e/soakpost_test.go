//go:build linux

package e2e

import (
	"bytes"
	"os/exec"
	"regexp"
	"sync"

	"github.com/ferrus-go/ferrus/test/kit"
)

// A post is a server over HTTP, and its successors.
type post struct {
	*soak
	mu     sync.Mutex
	cmd    *exec.Cmd
	stderr *said
	url    string
}

var listens = regexp.MustCompile(`msg=listening .*url=(http://\S+)`)

func (p *post) begin() {
	cmd, stderr := program(p.t, "serve", "--root", p.dir, "--http", "127.0.0.1:0", "--wait", "2"), &said{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	var url string
	kit.Eventually(p.t, "the server listens", func() bool {
		if m := listens.FindStringSubmatch(stderr.String()); m != nil {
			url = m[1]
		}
		return url != ""
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.stderr, p.url = cmd, stderr, url
}

func (p *post) end() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *post) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// said is what a process has written to its standard error.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
