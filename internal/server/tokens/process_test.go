package tokens

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
)

const part = "FERRUS_TOKENS_PART"

// TestMain makes tokens instead of running the tests where this binary was started again to be another process.
func TestMain(m *testing.M) {
	if name := os.Getenv(part); name != "" {
		os.Exit(making(os.Getenv(part+"_DIR"), name))
	}
	os.Exit(m.Run())
}

// making makes tokens until it has made many or is killed, and says each secret once it has it.
func making(dir, name string) int {
	b := Open(dir)
	b.wait = time.Minute
	for i := range 1000 {
		secret, _, err := b.New(state.Executor, fmt.Sprint(name, "-", i), never)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(secret)
	}
	return 0
}

// TestNoTokenIsLostBetweenProcesses: several make tokens at once and are killed in the middle of it. What each of them
// had been told is there.
func TestNoTokenIsLostBetweenProcesses(t *testing.T) {
	t.Parallel()
	b := book(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var secrets [3][]string
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=p%d", part, i), part+"_DIR="+b.dir)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if !strings.HasPrefix(lines.Text(), Prefix) {
					t.Error(lines.Text())
				}
				if secrets[i] = append(secrets[i], lines.Text()); len(secrets[i]) == 10+i {
					_ = cmd.Process.Kill() // while it makes the next one; what it still says is read
				}
			}
			_ = cmd.Wait()
		})
	}
	all.Wait()
	told := 0
	for i, list := range secrets {
		for n, secret := range list {
			tok, err := b.Verify(secret, time.Now())
			if err != nil || tok.Name != fmt.Sprintf("p%d-%d", i, n) {
				t.Errorf("process %d, token %d: %+v, %v", i, n, tok, err)
			}
		}
		told += len(list)
	}
	// Each may have made one that it did not live to tell.
	if list, err := b.List(); err != nil || told < 33 || len(list) < told || len(list) > told+len(secrets) {
		t.Errorf("%d tokens for %d secrets, %v", len(list), told, err)
	}
	made(t, b, state.Supervisor, "after", never)
}

// TestNoTokenIsLostBetweenGoroutines, nor does one who looks on see half a file.
func TestNoTokenIsLostBetweenGoroutines(t *testing.T) {
	t.Parallel()
	b := book(t)
	b.wait = time.Minute
	done := make(chan struct{})
	var makers, looker sync.WaitGroup
	looker.Go(func() {
		for last := 0; ; {
			list, err := b.List()
			if err != nil || len(list) < last {
				t.Errorf("%d tokens after %d, %v", len(list), last, err)
				return
			}
			last = len(list)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range 8 {
		makers.Go(func() {
			for n := range 5 {
				secret, tok, err := b.New(state.Executor, fmt.Sprint("g", i, "-", n), never)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := b.Verify(secret, time.Now()); err != nil || got != tok {
					t.Errorf("%+v, %v", got, err)
				}
			}
		})
	}
	makers.Wait()
	close(done)
	looker.Wait()
	if list, err := b.List(); err != nil || len(list) != 40 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
	// The same name for all: one gets it.
	var mu sync.Mutex
	got := 0
	for range 8 {
		makers.Go(func() {
			if _, _, err := b.New(state.Executor, "one", never); err == nil {
				mu.Lock()
				got++
				mu.Unlock()
			}
		})
	}
	makers.Wait()
	if got != 1 {
		t.Errorf("%d have the name", got)
	}
}
