package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// paths are the values of a JSON text by their pointers.
func paths(t *testing.T, data []byte) map[string]string {
	t.Helper()
	parsed, faults := jsonx.Parse(data)
	if faults != nil {
		t.Fatal(faults)
	}
	all := map[string]string{}
	var walk func(n jsonx.Node, at string)
	walk = func(n jsonx.Node, at string) {
		if len(n.Items) == 0 {
			all[at] = string(n.Raw)
		}
		for i, item := range n.Items {
			key := fmt.Sprint(i)
			if n.Is('{') {
				key = jsonx.Escape(n.Keys[i])
			}
			walk(item, at+"/"+key)
		}
	}
	walk(parsed.Root, "")
	return all
}

// TestStatusIsThatOfTheOriginal: S0-04, S0-11: after the launch, after the first researcher, and after both, every path
// of the original has its value.
func TestStatusIsThatOfTheOriginal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, research(t))
	sessions := map[string]string{"researcher-a": "agent:main:subagent:abc123", "researcher-b": "agent:main:subagent:def456",
		"synthesizer": "agent:main:subagent:ghi789"}
	w.session = func(role string, _ int) string { return sessions[role] }
	compare := func(step string) {
		t.Helper()
		text, err := w.status.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got := paths(t, text)
		for at, want := range paths(t, read(t, "testdata/status"+step+".json")) {
			if got[at] != want {
				t.Errorf("step %s: %s is %s, not %s", step, at, got[at], want)
			}
		}
		all := read(t, "testdata/status1.json")
		for at := range paths(t, all) { // the later steps abbreviate; all keys are there always
			if _, ok := got[at]; !ok {
				t.Errorf("step %s: no %s", step, at)
			}
		}
	}
	w.tick()
	w.tick()
	compare("1")
	if !slices.Contains(w.told, "Pipeline running, 2 workers in phase 1.") { // S0-05
		t.Errorf("told %q", w.told)
	}
	w.write("researcher-a.md", "a")
	w.tick()
	compare("4")
	w.write("researcher-b.md", "b")
	w.tick()
	w.tick()
	compare("6")
}

func TestStatusKeepsTheOrderAndTheKeysOfOthers(t *testing.T) {
	t.Parallel()
	s := New(research(t), "research-180141", `a <b> & "c"`, noon)
	s.Extra = extra{"x": json.RawMessage(`{"y":[1]}`)}
	s.Phases[1].Extra = extra{"z": json.RawMessage(`null`)}
	s.Phases[0].Workers[1].Extra = extra{"note": json.RawMessage(`"n"`)}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"a <b> & \"c\""`) {
		t.Errorf("hard to read:\n%s", text)
	}
	at := -1
	for _, k := range []string{"pipeline", "dir", "topic", "current_phase", "retry_count", "phases", "result_delivered", "schema_version", "x"} {
		i := strings.Index(string(text), "\n  \""+k+"\":")
		if i <= at {
			t.Errorf("%s is not in its place", k)
		}
		at = i
	}
	again, err := Decode(text)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%v\n%s", err, cmp.Diff(s, again))
	}
}

// TestADoubtfulStatusIsRefused: C.3, nothing stays silently wrong.
func TestADoubtfulStatusIsRefused(t *testing.T) {
	t.Parallel()
	text, _ := New(research(t), "d", "t", noon).Encode()
	for _, test := range []struct{ name, old, new, want string }{
		{"newer", `"schema_version": 1`, `"schema_version": 2`, "status.json has schema 2, and this ferrus understands 1"},
		{"no schema", `"schema_version": 1,`, ``, "status.json has schema 0"},
		{"no dir", `"dir": "d",`, ``, "line 1: there is no dir"},
		{"other case", `"topic"`, `"Topic"`, `"Topic" is not "topic"`},
		{"inner case", `"session": ""`, `"session": "", "Attempt": 3`, `"Attempt" is not "attempt"`},
		{"no session", `"session": "",`, ``, "there is no session"},
		{"twice", `"dir": "d"`, `"dir": "d", "dir": "e"`, "/dir (line 3): the key occurs twice"},
		{"unknown status", `"status": "pending"`, `"status": "done"`, `unknown status "done"`},
		{"unknown state", `"state": "running"`, `"state": "fine"`, `unknown state "fine"`},
		{"no such phase", `"current_phase": 0`, `"current_phase": 2`, "/current_phase (line 5): there is no phase 2"},
		{"a worker paused", `"status": "pending",` + "\n          " + `"session"`, `"status": "paused", "session"`, `unknown status "paused"`},
		{"wrong type", `"retry_count": 0`, `"retry_count": "0"`, "retry_count"},
		{"torn", `"result_delivered"`, "\x00", "it is not valid JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(string(text), test.old) {
				t.Fatalf("no %s in\n%s", test.old, text)
			}
			_, err := Decode([]byte(strings.Replace(string(text), test.old, test.new, 1)))
			if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	var se *SchemaError
	if _, err := Decode([]byte(`{"schema_version": 7}`)); !errors.As(err, &se) || se.Version != 7 {
		t.Errorf("got %v", err)
	}
}

// TestAStatusFitsItsWorkflow alone.
func TestAStatusFitsItsWorkflow(t *testing.T) {
	t.Parallel()
	w := research(t)
	if err := New(w, "d", "t", noon).Fits(w); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Status){
		"pipeline": func(s *Status) { s.Pipeline = "x" },
		"phases":   func(s *Status) { s.Phases = s.Phases[:1] },
		"id":       func(s *Status) { s.Phases[1].ID = "x" },
		"workers":  func(s *Status) { s.Phases[0].Workers = s.Phases[0].Workers[:1] },
		"role":     func(s *Status) { s.Phases[0].Workers[0].Role = "x" },
	} {
		s := New(w, "d", "t", noon)
		if change(&s); s.Fits(w) == nil {
			t.Errorf("another %s fits", name)
		}
	}
}

// TestTwoRunsInOneSecond: S0-03.
func TestTwoRunsInOneSecond(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, want := range []string{"research-180141", "research-180141-2", "research-180141-3"} {
		got := DirName("research", noon, func(s string) bool { return there[s] })
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		there[got] = true
	}
}

// FuzzDecode: no text makes it panic, and what it takes it writes and takes again.
func FuzzDecode(f *testing.F) {
	text, _ := New(research(f), "d", "t", noon).Encode()
	f.Add(text)
	f.Add(read(f, "testdata/status1.json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			return
		}
		out, err := s.Encode()
		if err != nil {
			t.Skip() // a year beyond 9999
		}
		again, err := Decode(out)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, data, out)
		}
		if second, _ := again.Encode(); string(second) != string(out) {
			t.Fatalf("%s\n%s", out, second)
		}
	})
}
