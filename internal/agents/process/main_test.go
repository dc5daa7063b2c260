//go:build unix

package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/test/kit"
)

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	Shim(nil)
	if os.Getenv(part) == "starter" {
		os.Exit(starter())
	}
	// A program with the race detector sleeps a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// Most of the time these tests wait for the limits of processes that do not listen.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// starter starts agents by orders: an order a line on stdin, what became of it a line on stdout.
func starter() int {
	orders := json.NewDecoder(os.Stdin)
	for {
		var o Order
		if err := orders.Decode(&o); err != nil {
			return 0
		}
		r, err := Start(o)
		switch {
		case errors.Is(err, ErrTaken):
			fmt.Println("taken")
		case err != nil:
			fmt.Println("error", err)
		default:
			fmt.Println("started", r.Name)
		}
	}
}

// A bench is a slot with a folder around it.
type bench struct {
	t    testing.TB
	dir  string
	slot Slot
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.slot = Path(b.dir, "", "executor")
	if err := os.Mkdir(filepath.Join(b.dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.slot.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// text is what a file holds, "" when there is none.
func (b *bench) text(name string) string {
	text, _ := os.ReadFile(b.path(name))
	return string(text)
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// order is an order for an agent that is a shell script.
func (b *bench) order(script string) Order {
	return Order{Slot: b.slot, Runs: b.path("runs/t.jsonl"), Logs: b.path("logs"), Tag: "t", Run: Run{Duty: agents.Executor, Agent: "command", At: 7},
		Launch: agents.Launch{Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ(), Dir: b.dir}}
}

// start starts a script, which must begin.
func (b *bench) start(script string) Run {
	b.t.Helper()
	r, err := Start(b.order(script))
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// over waits until the slot is free and returns the newest run.
func (b *bench) over() Run {
	b.t.Helper()
	select {
	case <-b.slot.Freed():
	case <-time.After(kit.Patience):
		b.t.Fatal("the slot is not free")
	}
	list := b.runs()
	if len(list) == 0 {
		b.t.Fatal("no run is written down")
	}
	return list[len(list)-1]
}

func (b *bench) runs() []Run {
	b.t.Helper()
	list, err := Runs(b.path("runs/t.jsonl"))
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// settle is Settle of the bench's list.
func (b *bench) settle() []Run {
	b.t.Helper()
	list, err := Settle(b.path("runs/t.jsonl"), func(agents.Duty) Slot { return b.slot })
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// occupant is who is in the slot, once it is written down.
func (b *bench) occupant() Occupant {
	b.t.Helper()
	var o Occupant
	b.eventually("the shim says who it is", func() bool {
		var taken bool
		o, taken = b.slot.Taken()
		return taken && o.Shim > 0
	})
	return o
}

// pid is the process id in a file that a script writes.
func (b *bench) pid(name string) int {
	b.t.Helper()
	n := 0
	b.eventually(name+" is written", func() bool {
		text := b.text(name)
		n, _ = strconv.Atoi(strings.TrimSpace(text))
		return n > 0 && strings.HasSuffix(text, "\n")
	})
	return n
}

// eventually polls, for what other processes do without telling.
func (b *bench) eventually(what string, claim func() bool) {
	b.t.Helper()
	kit.Eventually(b.t, what, claim)
}

func hit(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("signal %d to %d: %v", sig, pid, err)
	}
}

// A teller is a process that starts agents.
type teller struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func newTeller(t testing.TB) *teller {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &teller{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), part+"=starter")
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.lines = in, bufio.NewScanner(out)
	t.Cleanup(func() { p.in.Close(); _ = p.cmd.Wait() })
	return p
}

// send gives an order.
func (p *teller) send(t testing.TB, o Order) {
	t.Helper()
	if err := json.NewEncoder(p.in).Encode(o); err != nil {
		t.Fatal(err)
	}
}

// says is what became of an order.
func (p *teller) says() string {
	if !p.lines.Scan() {
		return "nothing"
	}
	return p.lines.Text()
}
