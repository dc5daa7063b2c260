package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
)

// A system is something whose servers are measured: ferrus, the bare SDK, a peer.
type system struct {
	Name string
	// New makes a project in an empty folder, with that many items where it has items.
	New func(ctx context.Context, dir string, items int) error
	// Server is a server process that talks over stdio.
	Server func(dir string) *exec.Cmd
	// Look reads, as the first call of a session would.
	Look func(dir string) call
	// Crowd opens n clients of one project, each with a server process of its own; nil where that is what Server starts.
	Crowd func(ctx context.Context, dir string, n int) (*crowd, error)
	// Kinds are the ways to write: update and create.
	Kinds map[string]writes
	// Says is what the result of a write has in it when it was acknowledged; a result that is an error was not.
	Says string
	// Kept is what is on the disk, as text.
	Kept func(dir string) (string, error)
	// Flow is the shortest way of one item from its beginning to done; nil where it takes more than one client.
	Flow func(dir string) []call
}

// A call is what a model says to a tool.
type call struct {
	Tool string         `json:"name"`
	Args map[string]any `json:"arguments"`
}

// Writes makes the call that writes an item, and says what mark it leaves on the disk.
type writes func(dir string, item int) (c call, mark string)

// try makes a call and returns what the model would read. It was acknowledged if the error is nil.
func (c call) try(ctx context.Context, to *mcpclient.Client) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.Args == nil {
		c.Args = map[string]any{}
	}
	res, err := to.Session().CallTool(ctx, &mcp.CallToolParams{Name: c.Tool, Arguments: c.Args})
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.Tool, err)
	}
	for _, part := range res.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if res.IsError {
		return text, fmt.Errorf("%s is refused: %.300s", c.Tool, text)
	}
	return text, nil
}

// patience is how long a single thing may take before the measurement is given up.
const patience = 5 * time.Minute

// open starts a server and connects to it.
func open(ctx context.Context, cmd *exec.Cmd) (*mcpclient.Client, error) {
	said := &tail{}
	cmd.Stderr, cmd.WaitDelay = said, time.Second
	c, err := mcpclient.Start(ctx, "bench", cmd)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return c, nil
}

// A tail keeps what a process said, for when it fails.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b.Len() < 1<<16 {
		t.b.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.b.String())
}

// ferrus is the system this is about, of the programs in bin.
func ferrus(bin string) system {
	server := func(dir, role string, more ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "ferrusd"), append([]string{"--role", role, "--agent-name", "bench", "--headless", "--root", dir}, more...)...)
		cmd.Env = plain()
		return cmd
	}
	s := system{
		Name:   "ferrus",
		New:    func(ctx context.Context, dir string, _ int) error { return project(ctx, bin, dir) },
		Server: func(dir string) *exec.Cmd { return server(dir, "executor") },
		Look:   func(string) call { return call{Tool: "status"} },
		Kept:   texts(".ferrus/journal.jsonl"),
	}
	s.Crowd = func(ctx context.Context, dir string, n int) (*crowd, error) { return ferrusCrowd(ctx, bin, dir, n) }
	return s
}

// supervisor is the other role of ferrus, whose list is another.
func supervisor(f system) system {
	f.Name += " supervisor"
	executor := f.Server
	f.Server = func(dir string) *exec.Cmd {
		cmd := executor(dir)
		cmd.Args[2] = "supervisor"
		return cmd
	}
	return f
}

// project makes a project of ferrus whose check is green.
func project(ctx context.Context, bin, dir string) error {
	if err := prepare(ctx, bin, dir, "[limits]\nmax_progress_notes = 1000000\n"); err != nil {
		return err
	}
	text, err := output(ctx, dir, filepath.Join(bin, "ferrus"), "trust", "--show", "--json")
	if err != nil {
		return err
	}
	var shown struct {
		Digest string `json:"digest"`
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return err
	}
	_, err = output(ctx, dir, filepath.Join(bin, "ferrus"), "trust", "--digest", shown.Digest)
	return err
}

// projectOf is project for another build, which may be older than agreements and the newest limits.
func projectOf(ctx context.Context, bin, dir string) error {
	if _, err := output(ctx, dir, filepath.Join(bin, "ferrus"), "trust", "--show"); err == nil {
		return project(ctx, bin, dir)
	}
	return prepare(ctx, bin, dir, "")
}

// prepare makes a project and agrees to nothing.
func prepare(ctx context.Context, bin, dir, more string) error {
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte("[checks]\ncommands = [\"true\"]\n"+more), 0o600); err != nil {
		return err
	}
	if err := repository(ctx, dir); err != nil {
		return err
	}
	_, err := output(ctx, dir, filepath.Join(bin, "ferrus"), "init")
	return err
}

// repository makes a git repository with one commit.
func repository(ctx context.Context, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "code.txt"), []byte("one\n"), 0o600); err != nil {
		return err
	}
	who := []string{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"}
	var errs error
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "code.txt"}, {"commit", "-q", "-m", "begin"}} {
		_, err := output(ctx, dir, "git", append(who, args...)...)
		errs = errors.Join(errs, err)
	}
	return errs
}

// bare is the limit: a server of the SDK alone.
func bare(bin string) system {
	return system{
		Name:   "bare",
		New:    func(context.Context, string, int) error { return nil },
		Server: func(string) *exec.Cmd { return exec.Command(filepath.Join(bin, "bare")) },
		Look:   func(string) call { return call{Tool: "status"} },
		Kinds: map[string]writes{"update": func(_ string, item int) (call, string) {
			return call{"keep", map[string]any{"note": mark(item)}}, mark(item)
		}},
		Kept:  texts("bare.log"),
		Crowd: func(ctx context.Context, dir string, n int) (*crowd, error) { return bareCrowd(ctx, bin, dir, n) },
	}
}

// mark names an item in a text; no mark is a part of another.
func mark(item int) string { return fmt.Sprintf("item-%d.", item) }

// texts returns a function that reads all files below dir that match the pattern, one after the other.
func texts(pattern string) func(dir string) (string, error) {
	return func(dir string) (string, error) {
		var all strings.Builder
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			text, readErr := os.ReadFile(name)
			err = errors.Join(err, readErr)
			all.Write(text)
		}
		return all.String(), err
	}
}

// plain is the environment without what points ferrus elsewhere.
func plain() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FERRUS_") {
			env = append(env, v)
		}
	}
	return env
}

// output runs a command and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(plain(), "NO_COLOR=1")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return string(out), nil
}

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// listen starts a server of HTTP and returns its URL when it listens.
func listen(ctx context.Context, cmd *exec.Cmd) (url string, err error) {
	said := &tail{}
	cmd.Stderr, cmd.Stdout = said, io.Discard
	if err := cmd.Start(); err != nil {
		return "", err
	}
	every := time.NewTicker(time.Millisecond)
	defer every.Stop()
	for over := time.After(patience); ; {
		if m := listening.FindStringSubmatch(said.String()); m != nil {
			return "http://" + m[1] + "/mcp", nil
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return "", ctx.Err()
		case <-over:
			return "", fmt.Errorf("%s does not listen: %s", cmd.Path, said)
		}
	}
}
