//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// race is a process that claims whenever it can, says under which epoch it did, and holds until it has lost the work.
func race(root string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	ctx := context.Background()
	fail := func(err error) int { fmt.Println("error:", err); return 1 }
	e, err := engine.Open(project.At(root, ""), engine.Options{})
	if err != nil {
		return fail(err)
	}
	s := e.Session(engine.Caller{Role: state.Executor, Agent: "executor:racer:1"})
	bell := e.Store().Watch()
	fmt.Println("ready")
	for {
		got, _, err := s.AwaitTask(ctx, time.Hour, false)
		if err != nil {
			return fail(err)
		}
		fmt.Println(got.Task.Epoch)
		for s.Holds(got.Task) {
			<-bell.C
			if got.Snapshot, err = e.View(); err != nil {
				return fail(err)
			}
		}
	}
}

// A racer is such a process.
type racer struct {
	lines *bufio.Scanner
	stop  func()
}

func (w *world) racer() racer {
	w.t.Helper()
	cmd := program(w.t, "race", w.dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	var once sync.Once
	stop := func() { once.Do(func() { stdin.Close() }) }
	w.t.Cleanup(func() { stop(); _ = cmd.Wait() })
	return racer{bufio.NewScanner(stdout), stop}
}

// TestOneOfManyClaims: processes that all wait for the same work, given out again and again.
func TestOneOfManyClaims(t *testing.T) {
	t.Parallel()
	processes, games := rounds(8, 50), rounds(3, 20)
	w := newWorld(t, "[checks]\ncommands = []\n")
	h := w.human()
	racers := make([]racer, processes)
	for i := range racers {
		racers[i] = w.racer()
	}
	for _, r := range racers {
		if !r.lines.Scan() || r.lines.Text() != "ready" {
			t.Fatalf("a process says %q", r.lines.Text())
		}
	}
	if _, err := h.CreateTask(t.Context(), "Build it.", ""); err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	for _, r := range racers {
		go func() {
			for r.lines.Scan() {
				said <- r.lines.Text()
			}
		}()
	}
	wins := map[string]int{}
	began := time.Now()
	for game := range games {
		select {
		case epoch := <-said:
			wins[epoch]++
		case <-time.After(kit.Patience):
			t.Fatalf("nobody claims in round %d", game)
		}
		end := h.Release
		if game == games-1 {
			end = h.Reset // so that no more is to be won
		}
		if _, err := end(t.Context(), strconv.Itoa(game)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d processes, %d rounds in %v", processes, games, time.Since(began).Round(time.Millisecond))
	for _, r := range racers {
		r.stop()
	}
	select {
	case more := <-said:
		t.Errorf("one more has won epoch %s", more)
	default:
	}
	claims := 0
	for _, l := range w.history() {
		if l.Event == state.Claim {
			claims++
			if n := wins[fmt.Sprint(l.Epoch)]; n != 1 {
				t.Errorf("%d processes won epoch %d", n, l.Epoch)
			}
		}
	}
	if claims != games || len(wins) != games {
		t.Errorf("%d claims, and %d epochs won, in %d rounds", claims, len(wins), games)
	}
}
