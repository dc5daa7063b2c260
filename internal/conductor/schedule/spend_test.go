//go:build unix

package schedule

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestABudgetThatCannotBeReadHoldsTheFamily: what was known last still counts, and nobody works on an unknown budget.
func TestABudgetThatCannotBeReadHoldsTheFamily(t *testing.T) {
	if sharedtest.On() {
		t.Skip("it damages the files of the runs")
	}
	t.Parallel()
	y := newFamily(t, "[limits]\nmax_delegates = 4\nmax_task_tokens = 100\n", "One.")
	ex := y.on("").Engine().Session(engine.Caller{Role: state.Executor, Agent: "executor:command:1"})
	_, _, err := ex.AwaitTask(t.Context(), time.Minute, true)
	must(t, err)
	_, _, err = delegate.Start(t.Context(), ex, "A part.", "", time.Minute)
	must(t, err)
	d := y.task("").Delegates[0]
	f := &family{e: y.on("").Engine()}
	if why := f.hold(); why != "" {
		t.Fatalf("held: %s", why)
	}
	child := y.on(d.Branch).Engine()
	path := conductor.Runs(child, y.task(d.Branch).TaskID)
	began := time.Now().Add(-time.Minute).UTC()
	line, err := json.Marshal(process.Run{Name: "executor-1", Duty: agents.Executor, Agent: "command", Log: "agent-executor-1.log",
		Launched: began, Started: began, Ended: began.Add(30 * time.Second), Usage: agents.Usage{Output: 40}})
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, append(line, '\n'), 0o600))
	total, since, err := f.others()
	if err != nil || total.Usage.Tokens() != 40 || since.Usage.Tokens() != 40 {
		t.Fatalf("used %+v, %+v, %v", total, since, err)
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700)) // a file that cannot be read
	if total, since, err = f.others(); err == nil || !strings.Contains(err.Error(), d.ID) || total.Usage.Tokens() != 40 || since.Usage.Tokens() != 40 {
		t.Errorf("used %+v, %+v, %v", total, since, err)
	}
	if why := f.hold(); !strings.Contains(why, "cannot be read") {
		t.Errorf("held: %q", why)
	}
	must(t, os.Remove(path))
	if why := f.hold(); why != "" {
		t.Errorf("held: %s", why)
	}
	must(t, os.WriteFile(path, append(bytes.Replace(line, []byte(`"output_tokens":40`), []byte(`"output_tokens":100`), 1), '\n'), 0o600))
	if why := Hold(f.e)(); !strings.Contains(why, "used 100 tokens of 100") {
		t.Errorf("a delegate has used the budget; held: %q", why)
	}
	total, since, err = Others(f.e)()
	if err != nil || total.Usage.Tokens() != 100 || since.Usage.Tokens() != 100 {
		t.Errorf("used %+v, %+v, %v", total, since, err)
	}
}
