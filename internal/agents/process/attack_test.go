//go:build unix

package process

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryLeadsASlotOutside lays links, FIFOs and huge files in place of everything that a slot reads and writes.
func TestNoEntryLeadsASlotOutside(t *testing.T) {
	paths := []string{".ferrus", ".ferrus/live", ".ferrus/live/agent-main-executor.lock", ".ferrus/runs", ".ferrus/runs/t.jsonl", ".ferrus/logs",
		".ferrus/logs/agent-t-executor-1.log", ".ferrus/live/conf", ".ferrus/live/conf/settings"}
	record := `{"run":"executor-1","duty":"executor","agent":"command","log":"/x/agent-t-executor-1.log","started":"2026-01-02T03:04:05Z"}` + "\n"
	setup := func(t *testing.T, dir string) {
		for name, text := range map[string]string{"live/agent-main-executor.lock": `{"shim":0,"run":"executor-1","mark":"OF-NOBODY-AT-ALL"}` + "\n",
			"runs/t.jsonl": record, "logs/agent-t-executor-1.log": "said\n", "live/conf/settings": "old"} {
			path := filepath.Join(dir, ".ferrus", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		home := filepath.Join(c.Dir, ".ferrus")
		s, list, log := Path(home, "", "executor"), filepath.Join(home, "runs", "t.jsonl"), filepath.Join(home, "logs", "agent-t-executor-2.log")
		o := sealed{Order: Order{Slot: s, Runs: list, Logs: filepath.Dir(log), Tag: "t", Run: Run{Duty: agents.Executor, Agent: "command"}}}
		_, taken := s.Taken()
		if taken {
			t.Error("the slot is taken")
		}
		runs, err := Runs(list)
		for _, r := range runs {
			Read(r)
		}
		_, err2 := Settle(list, func(agents.Duty) Slot { return s })
		lock, err3 := s.take()
		if err3 == nil {
			err3 = errors.Join(s.write(Occupant{Mark: "OF-NOBODY-AT-ALL"}), lock.Close())
		}
		r := o.Run
		err4 := o.name(&r)
		if err4 == nil {
			r.Log = log
			err4 = note(list, r)
		}
		f, err5 := createLog(log)
		if err5 == nil {
			err5 = f.Close()
		}
		err6 := o.writeFiles(map[string]string{filepath.Join(home, "live", "conf", "settings"): "new"})
		_ = s.End(t.Context())
		return errors.Join(err, err2, err3, err4, err5, err6)
	})
}

// TestARecordThatNobodyWroteIsLeftOut changes each field of a run, in turn, to what it cannot be.
func TestARecordThatNobodyWroteIsLeftOut(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	good := map[string]any{"run": "executor-1", "duty": "executor", "agent": "command", "model": "m", "at": 7, "log": "/x/logs/agent-t-executor-1.log",
		"started": "2026-01-02T03:04:05Z", "exit": 0, "said": "done", "usage": map[string]any{"input_tokens": 1, "dollars": 0.5}}
	read := func(t *testing.T, field string, value any) []Run {
		line := map[string]any{}
		for k, v := range good {
			line[k] = v
		}
		line[field] = value
		if duty, ok := value.(string); ok && field == "duty" { // else the name of the run would not fit it
			line["run"] = duty + "-1"
		}
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "runs", "t.jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, append(text, '\n'), 0o600)); err != nil {
			t.Fatal(err)
		}
		list, err := Runs(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if want := filepath.Join(filepath.Dir(filepath.Dir(path)), "logs", "agent-t-executor-1.log"); r.Log != want {
				t.Errorf("its log is %s, not %s", r.Log, want)
			}
		}
		return list
	}
	for _, log := range []string{"agent-t-executor-1.log", "/etc/agent-t-executor-1.log", "../../agent-t-executor-1.log"} {
		if n := len(read(t, "log", log)); n != 1 {
			t.Errorf("%d runs with the log %s", n, log)
		}
	}
	cases := 0
	for field, values := range map[string][]any{
		"run":   {"", "executor", "executor-0", "executor-01", "executor--1", "reviewer-1", "executor-1/..", "executor-9999999999999999999", "../executor-1", 7, nil},
		"duty":  {"", "..", "../executor", "exec/utor", "executor\n", "-executor", strings.Repeat("e", 65)},
		"agent": {"../claude", strings.Repeat("a", 65), "a b"}, "model": {long}, "at": {-1, 1.5, "7"},
		"log":  {"", "/etc/passwd", "..", "/x/agent-", "agent-a\x00.log", "/dev/zero", "agent-../x.log/.."},
		"exit": {"0", 1.5}, "signal": {"a b", long}, "error": {long}, "said": {long}, "client_session": {long}, "trouble": {"bored"},
		"started": {"yesterday", 7}, "ended": {"x"},
		"usage": {map[string]any{"input_tokens": -1}, map[string]any{"output_tokens": 1 << 60}, map[string]any{"dollars": -1}, map[string]any{"dollars": 1e300}},
	} {
		for _, value := range values {
			cases++
			if list := read(t, field, value); len(list) != 0 {
				t.Errorf("%s %.40v is believed: %+v", field, value, list)
			}
		}
	}
	t.Logf("rig: cases=%d bad=0; fields of records of runs that nobody wrote", cases)
}

// TestAForeignRecordEndsNobody: what a repository can bring along in place of a slot's lock file names the processes of
// others by their number, or by the beginning of their mark.
func TestAForeignRecordEndsNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("sleep 1000")
	agent := b.occupant()
	other := Path(t.TempDir(), "", "executor")
	if err := os.Mkdir(filepath.Dir(string(other)), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{
		`{"shim":` + jsonOf(t, agent.Shim) + `,"mark":""}`, `{"mark":"` + agent.Mark[:1] + `"}`, `{"mark":"` + agent.Mark[:8] + `"}`,
		`{"mark":"` + agent.Mark[:len(agent.Mark)-1] + `"}`, `{"shim":-1,"mark":"` + agent.Mark[:1] + `"}`, `{"shim":1}`, `{"shim":4294967297}`,
	} {
		if err := os.WriteFile(string(other), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := other.End(t.Context()); err != nil {
			t.Errorf("%s: %v", record, err)
		}
		if _, taken := b.slot.Taken(); !taken || !proc.Alive(agent.Shim) {
			t.Fatalf("%s has ended the agent of another slot", record)
		}
	}
	// Nor does one that is held: who writes such a record is no shim, and the wait for one ends.
	if err := os.WriteFile(string(other), []byte(`{"shim":-1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Take(string(other))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if o, taken := other.Taken(); !taken || o != (Occupant{}) {
		t.Errorf("%+v", o)
	}
}

func jsonOf(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
