package state

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// same compares tasks as they are stored: nothing and an empty list are one, and the bytes of an unknown key are JSON.
var same = cmp.Options{cmpopts.EquateEmpty(), cmp.Transformer("json", func(raw json.RawMessage) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	return v
})}

func TestATaskReadsBackAsItWasWritten(t *testing.T) {
	tasks := []Task{New(), full()}
	for _, s := range States() {
		tasks = append(tasks, in(t, s))
	}
	for _, task := range tasks {
		var got Task
		if err := json.Unmarshal([]byte(encode(t, task)), &got); err != nil {
			t.Fatalf("%s: %v", encode(t, task), err)
		}
		if diff := cmp.Diff(task, got, same); diff != "" {
			t.Errorf("%s: %s", task.State, diff)
		}
	}
}

// The keys of STATE.json are a format that people, scripts and other versions read.
func TestTheKeysOfATask(t *testing.T) {
	want := `schema_version task_id title seq epoch state check_retries review_cycles failure_reason since claimed_by ` +
		`session claimed_at paused check submission consultation issued asked budget_from score base_tree head head_branch base_commit set_up_tree conflict_marks unpublished worktree pin assigned stand_ins docs decisions ` +
		`progress consultations messages unattended violations branch variant selected merged delegates parent began_with issue returning updated_at paused_state ape zoo`
	if got := strings.Join(keys(t, encode(t, full())), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A fresh project shows what it has, and no empty place for what it has not.
	want = `{"schema_version":2,"seq":0,"epoch":0,"state":"Idle","check_retries":0,"review_cycles":0,` +
		`"updated_at":"0001-01-01T00:00:00.000Z"}`
	if got := encode(t, New()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// keys returns the keys of an object as they stand in it.
func keys(t *testing.T, object string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var list []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		list = append(list, key.(string))
	}
	return list
}

// What a newer ferrus or a person has added is not ours to drop. It stands after our keys, sorted, so that the same
// task is always the same bytes.
func TestUnknownKeysAreKept(t *testing.T) {
	var task Task
	read(t, `{"zeta":{"b":1,"a":[null,1e400]},"schema_version":2,"Extra":7,"state":"Idle","alpha":"<&>"}`, &task)
	for range 3 {
		got := encode(t, task)
		if tail := `,"Extra":7,"alpha":"\u003c\u0026\u003e","zeta":{"b":1,"a":[null,1e400]}}`; !strings.HasSuffix(got, tail) {
			t.Fatalf("got  %s\nwant it to end in %s", got, tail)
		}
		task = Task{}
		read(t, got, &task)
	}
	next, err := does(task, act{Supervisor, CreateTask}, three)
	if err != nil || len(next.Extra) != 3 {
		t.Errorf("a new task has kept %v, %v", next.Extra, err)
	}
}

func read(t *testing.T, data string, task *Task) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), task); err != nil {
		t.Fatal(err)
	}
}

// The term of the lease and the index into the journal change without an event: they are no part of a task, and a
// journal line that kept them would be refuted by the next renewal.
func TestVolatileKeysAreNoPartOfATask(t *testing.T) {
	var task Task
	read(t, `{"schema_version":2,"state":"Executing","claimed_by":"executor:codex:1","lease_until":"2026-01-02T03:04:05Z",
		"last_heartbeat":"2026-01-02T03:04:05Z","lease":{"boot":"b1"},"journal":{"bytes":9},"paused_state":"Idle"}`, &task)
	if len(task.Extra) > 0 {
		t.Errorf("taken for unknown: %v", task.Extra)
	}
	written := keys(t, encode(t, task))
	for _, k := range append(VolatileKeys(), "paused_state") {
		if slices.Contains(written, k) {
			t.Errorf("%s is written with the task", k)
		}
	}
}

// encoding/json reads "STATE" as "state". Kept as an unknown key beside it, it would change the state on the next
// reading.
func TestAKeyInAnotherCaseIsNotKeptBesideOurs(t *testing.T) {
	var task, again Task
	read(t, `{"schema_version":2,"STATE":"Executing","State":"Executing","\u017ftate":"Executing","state":"Idle"}`, &task)
	read(t, encode(t, task), &again)
	if task.State != Idle || again.State != Idle || len(again.Extra) > 0 {
		t.Errorf("read as %s, read again as %s with %v", task.State, again.State, again.Extra)
	}
}

// paused_state is what upstream's readers look at: the state to which the innermost pause returns.
func TestPausedStateIsWrittenForReaders(t *testing.T) {
	for want, task := range map[State]Task{
		"":           in(t, Executing),
		Executing:    in(t, Consultation),
		Consultation: play(t, in(t, Consultation), three, "supervisor ask_human AwaitingHuman"),
	} {
		var got struct {
			PausedState *State `json:"paused_state"`
		}
		if err := json.Unmarshal([]byte(encode(t, task)), &got); err != nil {
			t.Fatal(err)
		}
		if want == "" && got.PausedState != nil || want != "" && (got.PausedState == nil || *got.PausedState != want) {
			t.Errorf("in %s paused_state is %v, want %q", task.State, got.PausedState, want)
		}
	}
}

func TestWhatIsNotReadAsATask(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"newer", `{"schema_version":3,"state":"Idle"}`,
			"schema 3 is newer than this ferrus understands (2): use the newer ferrus"},
		// Another version may have other types and other states; what the error names is the version.
		{"newer, shaped otherwise", `{"schema_version":3,"state":"Pondering","paused":{"by":1},"updated_at":7}`,
			"schema 3 is newer than this ferrus understands (2): use the newer ferrus"},
		{"older", `{"schema_version":1,"state":"Idle","check_retries":0,"review_cycles":0,"failure_reason":null,"owner_pid":7}`,
			"schema 1 is older than this ferrus writes (2): run ferrus doctor --fix to archive it"},
		{"no version", `{"state":"Idle"}`,
			"schema 0 is older than this ferrus writes (2): run ferrus doctor --fix to archive it"},
		{"null", `null`,
			"schema 0 is older than this ferrus writes (2): run ferrus doctor --fix to archive it"},
		{"unknown state", `{"schema_version":2,"state":"Pondering"}`, `its field state is "Pondering", which is not a state`},
		{"another case", `{"schema_version":2,"state":"idle"}`, `its field state is "idle", which is not a state`},
		{"no state", `{"schema_version":2}`, `its field state is "", which is not a state`},
		// Else the answer would lead into a state that can never be left, nor read again.
		{"unknown state to return to", `{"schema_version":2,"state":"AwaitingHuman","paused":[{"id":"q1","state":"Pondering"}]}`,
			`its field paused.state is "Pondering", which is not a state`},
		{"torn", `{"schema_version":2,"state":"Id`, "unexpected end of JSON input"},
		{"a list", `[]`, "json: cannot unmarshal array"},
		{"wrong type", `{"schema_version":2,"state":"Idle","epoch":-1}`, "json: cannot unmarshal number -1"},
	} {
		task := full()
		err := json.Unmarshal([]byte(c.data), &task)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if got := errors.As(err, new(*SchemaError)); got != strings.HasPrefix(c.want, "schema") {
			t.Errorf("%s: is a *SchemaError: %v", c.name, got)
		}
		if diff := cmp.Diff(full(), task); diff != "" {
			t.Errorf("%s: what could not be read has changed the task: %s", c.name, diff)
		}
	}
}

// atBound reports whether a number or the pauses of a task can grow no further. No task of ferrus's comes near that.
func atBound(t Task) bool {
	return max(uint64(max(t.CheckRetries, t.ReviewCycles, t.Violations, t.Issued.Questions, t.Issued.Consultations)),
		t.Epoch, t.Seq) == maxCount || len(t.Paused) == maxPauses
}

// FuzzTask: whatever can be read as a task has valid fields and is read the same again once it has been written, and so is
// what any event makes of it.
func FuzzTask(f *testing.F) {
	f.Add([]byte(encode(f, New())))
	f.Add([]byte(encode(f, full())))
	f.Add([]byte(`{"schema_version":2,"state":"AwaitingHuman","docs":{},"paused":[{"state":"Asleep"}],"e":5,"d":4,"c":3,"b":2,"a":1}`))
	for _, c := range hostile {
		f.Add([]byte(c.json()))
	}
	for _, s := range States() {
		f.Add([]byte(`{"schema_version":2,"state":"` + string(s) + `","docs":{},"x":{"y":[1.0]},"STATE":"Idle"}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Task
		if json.Unmarshal(data, &first) != nil {
			return
		}
		if err := first.Valid(); err != nil {
			t.Fatalf("%s was read, and %v", data, err)
		}
		written := encode(t, first)
		if err := json.Unmarshal([]byte(written), &second); err != nil {
			t.Fatalf("%s was read and written as\n%s: %v", data, written, err)
		}
		if diff := cmp.Diff(first, second, same); diff != "" {
			t.Fatalf("%s\nreads otherwise once written: %s", data, diff)
		}
		if again := encode(t, second); again != written {
			t.Fatalf("written once\n%s\nand again\n%s", written, again)
		}
		for _, by := range Roles() {
			for _, ev := range Events() {
				next, err := Step(first, ev, by, three)
				if err != nil || next.Valid() != nil && atBound(first) {
					continue
				}
				var read Task
				if err := json.Unmarshal([]byte(encode(t, next)), &read); err != nil || read.State != next.State {
					t.Fatalf("%s %s in %s leads to %q, read as %q: %v", by, ev, first.State, next.State, read.State, err)
				}
			}
		}
	})
}
