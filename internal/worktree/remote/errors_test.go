package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

// TestAnErrorSaysWhatHelps: what failed, why, and what to do.
func TestAnErrorSaysWhatHelps(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	runGit(t, dir, "config", "core.sshCommand", "ssh -i deploy-key")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	const closed = "127.0.0.1:1" // a port that was free a moment ago may be another's now
	for name, c := range map[string]struct {
		remote string
		is     error
		said   []string
	}{
		"nobody listens":      {"http://" + closed + "/x.git", remote.ErrUnreachable, []string{"try again", "git ls-remote http://" + closed}},
		"nobody at the port":  {"git://" + closed + "/x.git", remote.ErrUnreachable, []string{"try again"}},
		"it never answers":    {"git://" + silent.Addr().String() + "/x.git", remote.ErrUnreachable, []string{"within 1s"}},
		"no repository":       {"git://" + h.daemon(t) + "/x.git", remote.ErrAccess, []string{"correct the address", "core.sshcommand"}},
		"no path":             {filepath.Join(t.TempDir(), "x.git"), remote.ErrAccess, []string{"correct the address"}},
		"no page":             {h.http(t, nil) + "/x.git", remote.ErrAccess, []string{"correct the address"}},
		"a helper by address": {"ext::sh -c true", remote.ErrAccess, []string{"https, ssh or git"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := open(t, dir)
			o := remote.Options{}
			if name == "it never answers" {
				o.Timeout = time.Second
			}
			r := openRemote(t, tree, c.remote, o)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, pushed := r.Push(ctx, epoch(1, ""), fingerprint(t, tree), h.main)
			_, fetched := r.Fetch(ctx, epoch(1, strings.Repeat("1", 40)), h.main)
			for _, err := range []error{pushed, fetched, r.Probe(ctx)} {
				if errors.Is(err, c.is) {
					for _, want := range c.said {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("%v does not say %q", err, want)
						}
					}
				} else if err != nil || c.is != nil {
					t.Errorf("err = %v", err)
				}
			}
		})
	}
}

// TestACallEndsWithItsContext, and says so.
func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	tree := open(t, dir)
	r := openRemote(t, tree, "git://"+silent.Addr().String()+"/x.git")
	go func() {
		conn, err := silent.Accept()
		if err == nil {
			defer conn.Close()
		}
		cancel()
	}()
	if _, err := r.Sweep(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// TestWhatGitStartedEndsWithTheCall: an ssh that hangs and does not obey.
func TestWhatGitStartedEndsWithTheCall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := committed(t)
	fifo, ssh := filepath.Join(t.TempDir(), "fifo"), filepath.Join(t.TempDir(), "ssh")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("no FIFO: %v: %s", err, out)
	}
	executable(t, ssh, fmt.Sprintf("trap '' TERM\nexec 9>'%s'\necho started >&9\nsleep 20\necho over >&9", fifo))
	person(t, fmt.Sprintf("[core]\n\tsshCommand = %s\n[ssh]\n\tvariant = simple\n", ssh))
	end, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	r := openRemote(t, open(t, dir), "ssh://nowhere/x.git", remote.Options{Timeout: time.Second})
	if _, err := r.List(t.Context(), ""); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("err = %v", err)
	}
	// It ends when no process has the other side.
	if text, err := io.ReadAll(end); err != nil || string(text) != "started\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestWhatCannotBeARefIsRefused before anything is sent.
func TestWhatCannotBeARefIsRefused(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	id := fingerprint(t, tree)
	for _, at := range []remote.Ref{{Task: "a/b", Epoch: 1}, {Task: "", Epoch: 1}, {Task: "..", Epoch: 1}, {Task: "t", Epoch: 1, Commit: "main"}, {Task: "*", Epoch: 1}} {
		if _, err := r.Push(t.Context(), at, id, h.main); err == nil {
			t.Errorf("%+v was pushed", at)
		}
	}
	for _, of := range [][2]string{{strings.Repeat("1", 40), h.main}, {id, strings.Repeat("1", 40)}} {
		if _, err := r.Push(t.Context(), epoch(1, ""), of[0], of[1]); err == nil || !strings.Contains(err.Error(), "not in the repository") {
			t.Errorf("%v: %v", of, err)
		}
	}
	for _, o := range []remote.Options{{Remote: h.dir, Project: "a/b"}, {Remote: h.dir, Project: "p", Namespace: "refs/heads"}, {Remote: "nowhere", Project: "p"}, {Remote: "", Project: "p"}, {Remote: "a/path", Project: "p"}} {
		if _, err := remote.Open(t.Context(), tree.Repository, o); err == nil {
			t.Errorf("%+v was opened", o)
		}
	}
	plain, err := worktree.Open(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "git"), worktree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Open(t.Context(), plain.Repository, remote.Options{Remote: h.dir, Project: "p"}); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("without git: %v", err)
	}
}
