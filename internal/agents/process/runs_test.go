//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
)

func TestAListOfRunsIsReadWhateverStandsInIt(t *testing.T) {
	t.Parallel()
	line := func(duty string, n int, more string) string {
		return fmt.Sprintf(`{"run":"%s-%d","duty":"%s","agent":"command","log":"/gone/agent-%s-%d.log"%s}`, duty, n, duty, duty, n, more)
	}
	one := line("executor", 1, "")
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"one", one + "\n", "executor-1"},
		{"no newline at the end", one, "executor-1"},
		{"the second line of a run in the place of the first", one + "\n" + line("reviewer", 1, "") + "\n" + line("executor", 1, `,"exit":3`) + "\n",
			"executor-1/3 reviewer-1"},
		{"torn", one + "\n{\"run\":\"exec", "executor-1"},
		{"torn and gone on", "{\"run\":\"exec\n" + line("executor", 2, "") + "\n", "executor-2"},
		{"garbage", "\x00\x00\n[]\nnull\n7\n\"x\"\n\n{}\n{\"run\":7}\n{\"run\":\"executor-1\"}\n" + one + "\n", "executor-1"},
		{"huge", line("executor", 2, `,"said":"`+strings.Repeat("x", 4<<20)+`"`) + "\n" + line("executor", 3, "") + "\n", "executor-3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if err := os.Mkdir(b.path("runs"), 0o700); err != nil {
				t.Fatal(err)
			}
			b.write("runs/t.jsonl", c.text)
			var got []string
			for _, r := range b.runs() {
				name := r.Name
				if r.Exit != 0 {
					name += "/" + string(rune('0'+r.Exit))
				}
				got = append(got, name)
			}
			if list := strings.Join(got, " "); list != c.want {
				t.Errorf("read as %q, not %q", list, c.want)
			}
			if err := note(b.path("runs/t.jsonl"), Run{Name: "last-1", Duty: "last", Log: "agent-last-1.log"}); err != nil {
				t.Fatal(err)
			}
			if list := b.runs(); list[len(list)-1].Name != "last-1" {
				t.Error("what is added after it is not read")
			}
		})
	}
}

// TestAFullListOfRunsTakesNoStart, and the end of a run that is at work still fits.
func TestAFullListOfRunsTakesNoStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".ferrus", "runs", "t-1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	began := Run{Name: "executor-1", Duty: agents.Executor, Agent: "codex", Started: time.Now().UTC()}
	if err := note(path, began); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxRuns/2+1); err != nil {
		t.Fatal(err)
	}
	began.Name = "executor-2"
	if err := note(path, began); err == nil || !strings.Contains(err.Error(), "ferrus reset") {
		t.Errorf("%v", err)
	}
	began.Name, began.Ended = "executor-1", time.Now().UTC()
	if err := note(path, began); err != nil {
		t.Error(err)
	}
}

// TestATornLineCostsNothing: the run whose line was torn by a power cut is forgotten, its log is not, and no run after it
// takes its name.
func TestATornLineCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("echo first")
	b.over()
	whole := b.text("runs/t.jsonl")
	b.write("runs/t.jsonl", whole[:len(whole)/4])
	b.start("echo second")
	if r := b.over(); r.Name != "executor-2" || r.Said != "second" || r.Error != "" {
		t.Errorf("%+v", r)
	}
	if got := b.text("logs/agent-t-executor-1.log"); got != "first\n" {
		t.Errorf("the first log is %q", got)
	}
	b.start("echo third")
	if r := b.over(); r.Name != "executor-3" || len(b.runs()) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestManyWriteOneList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var wg sync.WaitGroup
	for _, duty := range agents.Duties() {
		wg.Go(func() {
			for n := range 50 {
				if err := note(b.path("runs/t.jsonl"), Run{Name: fmt.Sprintf("%s-%d", duty, n+1), Duty: duty, Log: "agent-x.log", Said: strings.Repeat("x", 500)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(b.runs()); n != 200 {
		t.Errorf("%d runs of 200", n)
	}
}

func TestWhatCountsAsARunThatBegan(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name  string
		r     Run
		began bool
	}{
		{"runs", Run{}, true},
		{"ended well", Run{Ended: now}, true},
		{"ended badly", Run{Ended: now, Exit: 1}, true},
		{"shim killed", Run{Ended: now, Exit: -1, Error: "its shim was killed"}, true},
		{"killed, with something left behind", Run{Ended: now, Signal: "SIGKILL", Exit: -1, Error: "left"}, true},
		{"never was", Run{Ended: now, Error: "not on the PATH"}, false},
	} {
		if c.r.Began() != c.began {
			t.Errorf("%s: began is %v", c.name, !c.began)
		}
	}
	if d := (Run{Started: now.Add(-time.Minute)}).Lasted(now); d != time.Minute {
		t.Error(d)
	}
	if d := (Run{Started: now.Add(-time.Minute), Ended: now.Add(-time.Second)}).Lasted(now); d != 59*time.Second {
		t.Error(d)
	}
	if d := (Run{Started: now.Add(time.Minute)}).Lasted(now); d != 0 {
		t.Error(d)
	}
}

// TestTheLastWordsAreShortAndWhole: they go into a list that is read again and again.
func TestTheLastWordsAreShortAndWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(`printf 'x'; for i in $(seq 1000); do printf 'ü'; done`)
	r := b.over()
	if len(r.Said) > maxSaid+len("…") || !strings.HasSuffix(r.Said, "ü…") || strings.ContainsRune(r.Said, '�') {
		t.Errorf("%d bytes: %q", len(r.Said), r.Said)
	}
}

// TestWhatAnAgentSaysOfItselfIsWrittenDown: trouble, and until when.
func TestWhatAnAgentSaysOfItselfIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("echo 'error: 429 Too Many Requests, limit resets at 2030-01-02T03:04:05Z'; exit 1")
	if r := b.over(); r.Trouble != agents.RateLimited || !r.Until.Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", r)
	}
}
