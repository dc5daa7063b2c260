//go:build linux

package nodes

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// silence is how long a computer may be silent in these tests.
const silence = 5 * time.Second

// A world is a database, a git remote, and computers.
type world struct {
	t     *testing.T
	dir   string
	side  string // a folder that all computers see
	bare  string // the git remote
	db    string // the URL of the database, outside of all networks
	nodes []*node

	store   *postgres.Database // the database as the test reads it
	project uuid.UUID
}

// A node is a computer: a folder with a clone, and a network in which the database is reached through a relay.
type node struct {
	w    *world
	name string
	root string
	env  []string
	net  *postgrestest.Network
	url  string

	cmd   *exec.Cmd     // of ferrus node; nil before the first
	ended chan struct{} // closed when it has ended
	isCut bool          // its network
}

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, side: filepath.Join(dir, "side"), bare: filepath.Join(dir, "bare.git"), db: postgrestest.DurableDatabase(t)}
	w.must(os.Mkdir(w.side, 0o700))
	w.git(dir, "init", "-q", "--bare", "-b", "main", w.bare)
	for i, name := range names {
		n := w.computer(name)
		if i == 0 {
			n.git("init", "-q", "-b", "main")
			n.run("init")
			self, err := os.Executable()
			w.must(err)
			agent := fmt.Sprintf("%s=agent exec %s %s", part, self, w.side)
			n.write("ferrus.toml", fmt.Sprintf("[checks]\ncommands = [\"true\"]\n[hq.supervisor]\nagent = \"command\"\ncommand = %q\n[hq.executor]\nagent = \"command\"\ncommand = %q\n[limits]\nmax_executor_dispatches = 1000\nmax_review_cycles = 1000\n", agent, agent))
			n.git("add", "-A")
			n.git("commit", "-qm", "begin")
			n.git("remote", "add", "origin", w.bare)
			n.git("push", "-q", "origin", "main")
			n.trust()
			n.run("store", "move", n.url)
		} else {
			w.must(os.Remove(n.root))
			w.git(dir, "clone", "-q", w.bare, n.root)
			n.run("store", "join", n.url, "--project", w.nodes[0].name)
			n.trust()
		}
	}
	store, err := postgres.Connect(t.Context(), w.db, postgres.Options{Node: uuid.New()}) // no computer of the world
	w.must(err)
	t.Cleanup(func() { store.Close() })
	projects, err := store.Projects(t.Context())
	w.must(err)
	w.store, w.project = store, projects[0].ID
	t.Cleanup(func() {
		for _, n := range w.nodes {
			n.kill()
			_, _ = n.try("stop")
		}
		if bad, err := os.ReadFile(filepath.Join(w.side, "violations")); err == nil {
			t.Errorf("two agents of one duty:\n%s", bad)
		}
		if t.Failed() {
			w.show()
		}
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// computer makes one without a project.
func (w *world) computer(name string) *node {
	w.t.Helper()
	home := filepath.Join(w.dir, "home-"+name)
	n := &node{w: w, name: name, root: filepath.Join(w.dir, name), net: postgrestest.NewNetwork(w.t)}
	for _, dir := range []string{n.root, filepath.Join(home, "config", "ferrus"), filepath.Join(home, "state")} {
		w.must(os.MkdirAll(dir, 0o700))
	}
	w.must(os.WriteFile(filepath.Join(home, "config", "ferrus", "config.toml"),
		fmt.Appendf(nil, "[store]\ntrees = %q\nsilence_secs = %d\n", w.bare, int(silence.Seconds())), 0o600))
	w.must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\nname = test\nemail = test@example.com\n[safe]\ndirectory = *\n"), 0o600))
	n.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"FERRUS_STATE_DIR="+filepath.Join(home, "state"), "GIT_CONFIG_NOSYSTEM=1", "NODE="+name, part+"=ferrus", "NO_COLOR=1")
	n.url = n.relay()
	w.nodes = append(w.nodes, n)
	return n
}

// relay makes the database reachable in the network of a node, and returns its URL there.
func (n *node) relay() string {
	w := n.w
	w.t.Helper()
	conf, err := pgx.ParseConfig(w.db)
	w.must(err)
	var listener net.Listener
	w.must(n.net.Do(func() (err error) {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	}))
	w.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", filepath.Join(conf.Host, ".s.PGSQL."+strconv.Itoa(int(conf.Port))))
			if err != nil {
				in.Close()
				continue
			}
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				to.Close()
				from.Close()
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
	u := url.URL{Scheme: "postgres", User: url.User(conf.User), Host: listener.Addr().String(), Path: "/" + conf.Database, RawQuery: "sslmode=disable"}
	return u.String()
}

// command is ferrus on the computer, not started yet.
func (n *node) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	n.w.must(err)
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = n.root, n.env
	return cmd
}

// try runs ferrus and returns what it prints.
func (n *node) try(args ...string) (string, error) {
	var out strings.Builder
	cmd := n.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := n.net.Do(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// run is try for what must work.
func (n *node) run(args ...string) string {
	n.w.t.Helper()
	out, err := n.try(args...)
	if err != nil {
		n.w.t.Fatalf("%s: ferrus %s: %v\n%s", n.name, strings.Join(args, " "), err, out)
	}
	return out
}

func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (n *node) git(args ...string) {
	n.w.t.Helper()
	n.w.git(n.root, append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
}

func (n *node) write(name, text string) {
	n.w.t.Helper()
	n.w.must(os.WriteFile(filepath.Join(n.root, name), []byte(text), 0o644))
}

// trust agrees to what the files of the project run.
func (n *node) trust() {
	n.w.t.Helper()
	var shown struct{ Digest string }
	n.w.must(json.Unmarshal([]byte(n.run("trust", "--show", "--json")), &shown))
	n.run("trust", "--digest", shown.Digest)
}

// start starts ferrus node.
func (n *node) start() {
	n.w.t.Helper()
	out, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	n.w.must(err)
	cmd, ended := n.command("node", "--max", "8"), make(chan struct{})
	cmd.Stdout, cmd.Stderr = out, out
	n.w.must(n.net.Do(cmd.Start))
	n.cmd, n.ended = cmd, ended
	go func() {
		_ = cmd.Wait()
		out.Close()
		close(ended)
	}()
}

func (n *node) logFile() string { return filepath.Join(n.w.dir, n.name+".log") }

// log returns what ferrus node has printed.
func (n *node) log() string {
	text, _ := os.ReadFile(n.logFile())
	return string(text)
}

// running reports whether ferrus node runs.
func (n *node) running() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// kill kills ferrus node, without what it has started.
func (n *node) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(syscall.SIGKILL)
		<-n.ended
	}
}

// until waits until something is so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for end := time.Now().Add(kit.Patience); !so(); <-every.C {
		if time.Now().After(end) {
			w.t.Fatalf("not so: %s", what)
		}
	}
}

// lines returns the lines of a file of the folder that all computers see, which begin with some words.
func (w *world) lines(name, prefix string) (found []string) {
	text, _ := os.ReadFile(filepath.Join(w.side, name))
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// state returns the state of the task of a branch. It is read in this process: ferrus status, again and again, is what would make the tests slow.
func (w *world) state(branch string) state.State {
	m, err := w.store.Open(w.t.Context(), postgres.Name{Project: w.project, Branch: branch}, w.side, postgres.Opening{})
	if err != nil {
		return ""
	}
	now, err := m.View()
	w.must(err)
	return now.Task.State
}

// completes waits until the task of a branch is complete.
func (w *world) completes(branch string) {
	w.t.Helper()
	w.until("the task of "+branch+" is complete", func() bool { return w.state(branch) == state.Complete })
}

// A shown is what ferrus status shows of computers.
type shown struct {
	Node   string // the other one that conducts the task
	Agents []struct{ Node string }
	Spent  struct{ Runs int }
}

// status returns what a computer shows of a branch.
func (n *node) status(branch string) (got shown) {
	n.w.t.Helper()
	n.w.must(json.Unmarshal([]byte(n.run("status", "--branch", branch, "--json")), &got))
	return got
}

// show prints what there is to know after a failure.
func (w *world) show() {
	for _, n := range w.nodes {
		w.t.Logf("node %s:\n%s", n.name, n.log())
		logs, _ := fs.Glob(os.DirFS(n.root), ".ferrus/branches/*/logs/*agent*.log")
		for _, name := range logs {
			text, _ := os.ReadFile(filepath.Join(n.root, name))
			w.t.Logf("%s: %s:\n%s", n.name, name, text[max(0, len(text)-2000):])
		}
	}
	for _, name := range []string{"agents", "steps", "refused", "approved"} {
		w.t.Logf("%s:\n%s", name, strings.Join(w.lines(name, ""), "\n"))
	}
	for _, branch := range []string{"one", "two", "three"} {
		w.t.Log(w.nodes[0].try("log", "--branch", branch))
	}
}
