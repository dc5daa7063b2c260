//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestARoleHasItsToolsOverHTTP: the same as over stdio, and another role's are as unknown as any.
func TestARoleHasItsToolsOverHTTP(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	o := opened(t, dir)
	hidden := map[state.Role]string{state.Supervisor: "submit", state.Executor: "approve"}
	for role, other := range hidden {
		want := ferrusd(t, dir, string(role)).toolNames()
		for _, transport := range transports {
			v := o.visit(t, transport, role, nil)
			list, err := v.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if !slices.Equal(names, want) {
				t.Errorf("%s, %s: %v, want %v", transport, role, names, want)
			}
			if v.InitializeResult().Instructions == "" {
				t.Errorf("%s, %s: no instructions", transport, role)
			}
			var said []string
			for _, name := range []string{other, "no_such_tool"} {
				_, err := v.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"role": other}})
				var rpc *jsonrpc.Error
				if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
					t.Fatalf("%s, %s: %s: %v", transport, role, name, err)
				}
				said = append(said, strings.ReplaceAll(rpc.Message, name, "X"))
			}
			if said[0] != said[1] {
				t.Errorf("%s, %s: a hidden tool says %q, none %q", transport, role, said[0], said[1])
			}
		}
	}
}

// TestAWholeTaskOverHTTP, on each transport, by following what each answer gives: from create_task to Complete, with a
// consultation and a rejection on the way.
func TestAWholeTaskOverHTTP(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			dir := tracked(t, `"true"`)
			o := opened(t, dir, "--wait", "30")
			boss := o.visit(t, transport, state.Supervisor, nil)
			worker := o.visit(t, transport, state.Executor, nil)
			claimed := make(chan string, 1)
			go func() { // a long poll, which the new task ends
				claimed <- worker.do("wait_for_task", nil).Claim
			}()
			boss.do("create_task", map[string]any{"description": "Make it so."})
			worker.claim = <-claimed
			if r := boss.do("status", nil); r.ClaimedBy != "executor:remote:1" || worker.claim == "" {
				t.Fatalf("claimed by %s, claim %q", r.ClaimedBy, worker.claim)
			}
			worker.do("consult", map[string]any{"problem": "p", "tried": "t", "question": "q"})
			r := boss.do("wait_for_review", nil)
			boss.do("respond_consult", map[string]any{"response": "so", "consultation": r.ConsultationID})
			if r := worker.do("wait_for_consult", nil); r.Response != "so" {
				t.Errorf("the response: %+v", r)
			}
			hand := map[string]any{"summary": "done", "verification": "seen", "no_change": "none"}
			for _, verdict := range []string{"reject", "approve"} {
				write(t, filepath.Join(dir, "work"), verdict)
				if r := worker.do("check", nil); r.Status != "passed" {
					t.Fatalf("check: %+v", r)
				}
				if r := worker.do("submit", hand); r.Status != "submitted" {
					t.Fatalf("submit: %+v", r)
				}
				boss.do("wait_for_review", nil)
				r := boss.do("review_pending", nil)
				args := map[string]any{"submission": r.SubmissionID}
				if verdict == "reject" {
					args["notes"] = "again"
				}
				boss.do(verdict, args)
				if verdict == "reject" {
					worker.claim = ""
					worker.claim = worker.do("wait_for_task", nil).Claim
				}
			}
			if r := boss.do("status", nil); r.State != state.Complete {
				t.Errorf("in the end: %+v", r)
			}
		})
	}
}

// TestALongPollOverHTTPShowsThatItLives, every ten seconds, on each transport; a revoked token ends it.
func TestALongPollOverHTTPShowsThatItLives(t *testing.T) {
	if kit.Quick() {
		t.Skip("progress comes every ten seconds")
	}
	t.Parallel()
	o := opened(t, newProject(t, `"true"`), "--wait", "1000")
	shown, ended := map[string]chan struct{}{}, make(chan error, len(transports))
	for _, transport := range transports {
		ticks := make(chan struct{}, 100)
		shown[transport] = ticks
		v := o.visit(t, transport, state.Executor, &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { ticks <- struct{}{} }})
		go func() {
			params := &mcp.CallToolParams{Name: "wait_for_task"}
			params.SetProgressToken(transport)
			_, err := v.CallTool(context.Background(), params)
			ended <- err
		}()
	}
	for transport, ticks := range shown {
		select {
		case <-ticks:
		case err := <-ended:
			t.Fatalf("a wait ended: %v", err)
		case <-time.After(kit.Patience):
			t.Fatalf("%s: nothing is shown", transport)
		}
	}
	if _, err := o.tokens.Revoke(mustFind(t, o, state.Executor).ID); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range transports {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a wait succeeded")
			}
		case <-time.After(kit.Patience):
			t.Fatal("a wait goes on without its token")
		}
	}
	t.Logf("what waited ended %v after its token", time.Since(began))
	if _, err := o.dial(t, "legacy", o.secret[state.Executor], nil); err == nil {
		t.Error("a revoked token comes in")
	}
}

func mustFind(t *testing.T, o *office, role state.Role) tokens.Token {
	t.Helper()
	all, err := o.tokens.List()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(x tokens.Token) bool { return x.Role == role })
	if i < 0 {
		t.Fatalf("no token of role %s", role)
	}
	return all[i]
}

// TestAServerOfManyEndsAtOnce, with streams open and a check running, whose processes end before it.
func TestAServerOfManyEndsAtOnce(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			o := opened(t, newProject(t, `"echo $$ > `+pipe+`; sleep 1000 & sleep 1000"`), "--wait", "1000")
			o.visit(t, "legacy", state.Supervisor, nil).do("create_task", map[string]any{"description": "d"})
			worker := o.visit(t, "modern", state.Executor, nil)
			worker.claim = worker.do("wait_for_task", nil).Claim
			go worker.CallTool(context.Background(), &mcp.CallToolParams{Name: "check", Arguments: map[string]any{"claim": worker.claim}})
			group := told(t, pipe)
			for range 25 {
				o.visit(t, "sse", state.Executor, nil)
				o.visit(t, "legacy", state.Executor, nil) // has a stream, too
			}
			code, took := o.exit(o.signal(signal))
			t.Logf("50 streams, a call and a check ended in %v", took)
			if code != 128+int(signal) {
				t.Errorf("exit %d after %v; stderr %s", code, took, o.stderr)
			}
			if proc.Tree(group).Alive() {
				t.Errorf("the check's group %d lives", group)
			}
		})
	}
}

// TestNoSecretIsWrittenDown, neither to stderr nor to any file of the project.
func TestNoSecretIsWrittenDown(t *testing.T) {
	t.Parallel()
	o := opened(t, newProject(t, `"true"`))
	for _, transport := range transports {
		for role := range o.secret {
			o.visit(t, transport, role, nil).call("status", nil)
		}
	}
	o.raw(t, "POST", "/mcp?token="+o.secret[state.Executor], "no-such-secret", "{}", nil)
	o.raw(t, "POST", "/sse?sessionid="+o.secret[state.Executor], o.secret[state.Executor], "{}", map[string]string{"Origin": "null"})
	secrets := []string{"no-such-secret", o.secret[state.Supervisor], o.secret[state.Executor]}
	if code, _ := o.exit(o.signal(syscall.SIGTERM)); code != 143 {
		t.Errorf("exit %d", code)
	}
	seen := 0
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(path, "serve-") {
			seen++
		}
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s is in %s", secret, path)
			}
		}
		return err
	})
	for _, secret := range secrets {
		if strings.Contains(o.stderr.String(), secret) {
			t.Errorf("%s is on stderr: %s", secret, o.stderr)
		}
	}
	if err != nil || seen == 0 {
		t.Errorf("%d logs, %v", seen, err)
	}
}

// TestFlagsOfHTTPThatCannotBe: exit 2 and what helps, before anything listens.
func TestFlagsOfHTTPThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	type args = []string
	for _, c := range []struct {
		says string
		args []string
		code int
	}{
		{"ferrus token new", args{"--http", "127.0.0.1:0", "--role", "executor"}, 2},
		{"ferrus token new", args{"--http", "127.0.0.1:0", "--agent-name", "x"}, 2},
		{"ferrus token new", args{"--unix", "s", "--agent-index", "1"}, 2},
		{"--insecure-http", args{"--http", "0.0.0.0:0"}, 2},
		{"--tls-cert", args{"--http", ":0"}, 2},
		{"--insecure-http", args{"--http", "[::]:0"}, 2},
		{"host and port", args{"--http", "127.0.0.1"}, 2},
		{"somewhere to listen", args{"--http", ""}, 2},
		{"either", args{"--http", "127.0.0.1:0", "--unix", "s"}, 2},
		{"belong together", args{"--http", "127.0.0.1:0", "--tls-cert", "c"}, 2},
		{"needs --http", args{"--allow-host", "h"}, 2},
		{"needs --http", args{"--role", "executor", "--insecure-http"}, 2},
		{"chmod go-w", args{"--unix", filepath.Join(open, "s")}, 2},
		{"no/such/cert", args{"--http", "127.0.0.1:0", "--tls-cert", "no/such/cert", "--tls-key", "no/such/key"}, 1},
	} {
		w := start(t, "ferrusd", dir, c.args...)
		if code, _ := w.exit(func() {}); code != c.code || !strings.Contains(w.stderr.String(), c.says) || strings.Contains(w.stderr.String(), "listening") {
			t.Errorf("%v: exit %d, stderr %q", c.args, code, w.stderr)
		}
	}
	w := start(t, "ferrusd", t.TempDir(), "--http", "127.0.0.1:0")
	if code, _ := w.exit(func() {}); code != 1 || !strings.Contains(w.stderr.String(), "ferrus init") {
		t.Errorf("outside a project: exit %d, stderr %q", code, w.stderr)
	}
}

// TestTheBurdenOfManyClients: a thousand sessions that nobody uses, two hundred calls that wait; a quarter of both in the
// usual run.
func TestTheBurdenOfManyClients(t *testing.T) {
	if kit.Quick() {
		t.Skip("many sessions")
	}
	sessions, calls, most := 250, 50, 25<<10
	if kit.Full() {
		sessions, calls, most = 1000, 200, 100<<10
	}
	o := opened(t, newProject(t, `"true"`), "--wait", "1000")
	boss := o.visit(t, "modern", state.Supervisor, nil)
	boss.do("status", nil)
	rss, fds := o.burden(t)
	t.Logf("at the start: %d KiB, %d descriptors", rss, fds)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for range sessions {
		resp := o.raw(t, "POST", "/mcp", o.secret[state.Executor], hello, nil)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s %v", resp.Status, err)
		}
	}
	idle, idleFDs := o.burden(t)
	t.Logf("with %d idle sessions: %d KiB, %d descriptors", sessions, idle, idleFDs)
	began := time.Now()
	boss.do("status", nil)
	took := time.Since(began)
	t.Logf("a call then takes %v", took)
	ctx, cancel := context.WithCancel(t.Context())
	shown := make(chan error, calls)
	for i := range calls {
		v := o.visit(t, transports[i%3], state.Executor, nil)
		go func() {
			_, err := v.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_task"})
			shown <- err
		}()
	}
	waiting, waitingFDs := o.burden(t)
	for over := time.Now().Add(kit.Patience); waitingFDs < idleFDs+2*calls && time.Now().Before(over); { // each has one connection or two
		waiting, waitingFDs = o.burden(t)
	}
	t.Logf("and %d calls that wait: %d KiB, %d descriptors", calls, waiting, waitingFDs)
	began = time.Now()
	boss.do("status", nil)
	t.Logf("a call then takes %v", time.Since(began))
	cancel()
	for range calls {
		if err := <-shown; err == nil {
			t.Error("a wait succeeded")
		}
	}
	if idle-rss > most || waiting-idle > most || idleFDs-fds > 50 || waitingFDs-idleFDs > 5*calls {
		t.Error("it is too much")
	}
	code, ended := o.exit(o.signal(syscall.SIGTERM))
	t.Logf("%d sessions ended in %v", sessions, ended)
	if code != 143 {
		t.Errorf("exit %d after %v", code, ended)
	}
}

// burden is what the process has of memory, in KiB, and how many descriptors.
func (o *office) burden(t *testing.T) (rss, fds int) {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d/", o.cmd.Process.Pid)
	text, err := os.ReadFile(proc + "status")
	if err != nil {
		t.Skip("there is no /proc")
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &rss); err == nil {
			break
		}
	}
	list, err := os.ReadDir(proc + "fd")
	if err != nil {
		t.Fatal(err)
	}
	return rss, len(list)
}
