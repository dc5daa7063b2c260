//go:build unix

package run

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/test/kit"
)

// parts are other programs that this binary can be, named by an environment variable.
var parts = map[string]func() int{"conductor": conductor, "ticker": ticker, "deliverer": deliverer, "mover": moving, "rerunner": rerunner, "asker": asker}

const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	strike()
	process.Shim(Hold)
	if play := parts[os.Getenv(part)]; play != nil {
		os.Exit(play())
	}
	os.Exit(kit.Main(m.Run))
}

// A yard is a project in which pipelines run. Workers are shell scripts: plays/<role>, or what everybody does.
type yard struct {
	t    testing.TB
	root string
	conf config.Config
	out  bytes.Buffer
	mu   sync.Mutex
	told []Line
	o    Options
}

// write is what a worker does that has nothing special to do: it writes its output whole.
const write = `echo "$FERRUS_WORKER was here" > "$FERRUS_OUTPUT.tmp" && mv "$FERRUS_OUTPUT.tmp" "$FERRUS_OUTPUT"`

func newYard(t testing.TB) *yard {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, root: root, conf: config.Default()}
	y.conf.HQ.Executor = config.Agent{Agent: "command",
		Command: `echo $$ >> "$FERRUS_ROOT/spawned-$FERRUS_WORKER"; if [ -e "$FERRUS_ROOT/plays/$FERRUS_WORKER" ]; then . "$FERRUS_ROOT/plays/$FERRUS_WORKER"; else ` + write + `; fi`}
	y.o = Options{Ferrus: "/bin/false", Environ: os.Environ(), Out: &y.out, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Report: func(l Line) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.told = append(y.told, l)
		}}
	t.Cleanup(y.clear)
	return y
}

// clear ends all that are left.
func (y *yard) clear() {
	names, _ := y.place().Names()
	for _, name := range names {
		if f, err := Open(filepath.Join(y.place().Tmp, name)); err == nil {
			for _, role := range f.alive() {
				_ = f.Slot(role).Stop(context.Background())
			}
		}
	}
}

func (y *yard) place() Place { return At(y.root, y.conf.Pipelines) }

func (y *yard) path(name ...string) string {
	return filepath.Join(append([]string{y.root}, name...)...)
}

// play is what the worker of a role does from now on.
func (y *yard) play(role, script string) {
	y.t.Helper()
	y.put(filepath.Join("plays", role), script)
}

func (y *yard) put(name, text string) {
	y.t.Helper()
	must(y.t, os.MkdirAll(filepath.Dir(y.path(name)), 0o755))
	must(y.t, os.WriteFile(y.path(name), []byte(text), 0o644))
}

func (y *yard) text(name string) string {
	text, _ := os.ReadFile(y.path(name))
	return string(text)
}

// launch launches the one pipeline of a workflows.json.
func (y *yard) launch(workflows string) *Folder {
	y.t.Helper()
	all, err := workflow.Parse([]byte(workflows))
	must(y.t, err)
	f, err := y.place().Launch(all[0], "FSA architecture", y.place().Settings(y.conf), time.Now())
	must(y.t, err)
	return f
}

// tick ticks once.
func (y *yard) tick(f *Folder) pipeline.Action {
	y.t.Helper()
	a, err := f.Tick(y.t.Context(), y.o)
	must(y.t, err)
	return a
}

// conduct conducts until it ends by itself.
func (y *yard) conduct(f *Folder) pipeline.Action {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), kit.Patience)
	defer cancel()
	a, err := f.Conduct(ctx, y.o)
	if err != nil {
		y.t.Fatalf("%v\n%s", err, y.story(f))
	}
	notify.Finish(ctx)
	if err := notify.OpenOutbox(f.Settings.Root).Send(ctx, f.channels(y.o)); err != nil { // what was cut under load
		y.t.Error(err)
	}
	return a
}

// story is the journal, for who must find out what happened.
func (y *yard) story(f *Folder) string {
	var b strings.Builder
	lines, _ := f.Lines()
	for _, l := range lines {
		b.WriteString(l.Event + " " + l.Row + " " + strings.Join(l.Roles, ",") + " " + string(l.Reason) + " " + l.Why + "\n")
	}
	return b.String()
}

// spawned is how often the agent of a role was started.
func (y *yard) spawned(role string) int {
	return strings.Count(y.text("spawned-"+role), "\n")
}

// ended demands that the run is archived, and was delivered.
func (y *yard) ended(f *Folder, a pipeline.Action) pipeline.Status {
	y.t.Helper()
	s, err := f.Status()
	must(y.t, err)
	if a.Do != pipeline.Archive || !s.ResultDelivered || s.State != pipeline.IsCompleted || filepath.Dir(f.Dir) != y.place().Archive {
		y.t.Fatalf("%s in %s: %+v\n%s", a, f.Dir, s, y.story(f))
	}
	return s
}

// eventually polls, for what other processes do without telling.
func (y *yard) eventually(what string, claim func() bool) {
	y.t.Helper()
	kit.Eventually(y.t, what, claim)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// research is the original workflows.json.
func research(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/workflows.json")
	must(t, err)
	return string(text)
}

// An errand is what another process conducts, and where it dies.
type errand struct {
	Dir   string
	Point string // "" lives on
	Count int    // the how manieth time it comes there, from 1
}

// conductor conducts a run until somebody kills it, or it kills itself at a point.
func conductor() int {
	var e errand
	if err := json.Unmarshal([]byte(os.Getenv("FERRUS_TEST_ERRAND")), &e); err != nil {
		return 2
	}
	f, err := Open(e.Dir)
	if err != nil {
		return 3
	}
	var mu sync.Mutex
	_, err = f.Conduct(context.Background(), Options{Ferrus: "/bin/false", Environ: os.Environ(), Out: os.Stdout,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), At: func(point string) {
			mu.Lock()
			defer mu.Unlock()
			if point != e.Point {
				return
			}
			if e.Count--; e.Count == 0 {
				notify.Finish(context.Background()) // a kill between a sending and its record repeats it
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}})
	if err != nil {
		return 4
	}
	return 0
}

// send starts another process on an errand.
func (y *yard) send(e errand) *exec.Cmd {
	y.t.Helper()
	return y.process("conductor", e)
}

// process starts another part.
func (y *yard) process(name string, e errand) *exec.Cmd {
	y.t.Helper()
	return y.errand(name, e, "")
}

// errand starts another part with one more variable.
func (y *yard) errand(name string, e errand, variable string) *exec.Cmd {
	y.t.Helper()
	self, err := os.Executable()
	must(y.t, err)
	text, err := json.Marshal(e)
	must(y.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), part+"="+name, "FERRUS_TEST_ERRAND="+string(text), variable)
	cmd.Stderr = os.Stderr
	must(y.t, cmd.Start())
	return cmd
}
