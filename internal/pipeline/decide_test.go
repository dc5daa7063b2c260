package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// scene is a run at a moment: phase one has a and b, phase two end. Nothing has begun.
func scene(t testing.TB, text string, change ...func(*Facts)) Facts {
	w := flow(t, text)
	f := Facts{Workflow: w, Status: New(w, "p-180141", "topic", noon), Files: map[string]File{}, Workers: map[string]Seen{}, Now: noon}
	for _, c := range change {
		c(&f)
	}
	return f
}

// runs has workers begun so long ago; they live.
func runs(ago time.Duration, roles ...string) func(*Facts) {
	return func(f *Facts) {
		f.Status.spawn(roles, noon.Add(-ago))
		for _, role := range roles {
			f.Workers[role] = Seen{Alive: true, Attempt: 1, Spawned: noon.Add(-ago), Began: noon.Add(-ago)}
		}
	}
}

// left has workers gone with an exit code.
func left(exit int, roles ...string) func(*Facts) {
	return func(f *Facts) {
		for _, role := range roles {
			f.Workers[role] = Seen{Attempt: 1, Exited: true, Exit: exit}
		}
	}
}

// wrote has outputs there.
func wrote(files ...string) func(*Facts) {
	return func(f *Facts) {
		for _, file := range files {
			f.Files[file] = File{Bytes: 9, SHA256: "x", Settled: true, First: "first"}
		}
	}
}

func wants(v Verb) func(*Facts)   { return func(f *Facts) { f.Intent.Verb = v } }
func after(a Action) func(*Facts) { return func(f *Facts) { f.Status = Reconcile(*f).After(a, f.Now) } }
func sentBy(role string) func(*Facts) {
	return func(f *Facts) {
		seen := f.Workers[role]
		seen.Sent = true
		f.Workers[role] = seen
	}
}
func delivery(d Delivery) func(*Facts) { return func(f *Facts) { f.Delivery = d } }
func done(f *Facts)                    { f.Status.ResultDelivered = true }
func all(changes ...func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		for _, c := range changes {
			c(f)
		}
	}
}

var first = all(runs(time.Minute, "a", "b"), wrote("a.md", "b.md"), left(0, "a", "b"))

// second has the second phase begun.
var second = all(first, after(Action{Do: Finish}), runs(time.Minute, "end"))

const paused = `"phases": [{"id": "one", "pause_after": true, "workers": [{"role": "a", "task": "x"}]}, {"id": "two", "workers": [{"role": "end", "final": true, "task": "x"}]}]`

// lone is a run of two workers with a pause between them.
const lone = `{"p": {` + paused + `}}`

// A judgement is a moment and what is decided on it.
type judgement struct {
	name, text string
	change     func(*Facts)
	row, want  string // the row, and how the action reads
}

// judgements fire every row of the table.
var judgements = []judgement{
	{"another workflow", "", func(f *Facts) { f.Status.Pipeline = "x" }, "foreign", "wait; status.json is of a run of x with 2 phases, not of p with 2"},
	{"the worker sent it", "", all(second, wrote("end.md"), left(0, "end"), sentBy("end")), "sent",
		"confirm end end.md; the worker end sent the result: its last words contain MATRIX_SENT"},
	{"the worker sent it, and a person cancels", "", all(second, wrote("end.md"), left(0, "end"), sentBy("end"), wants(Cancel)), "sent",
		"confirm end end.md; the worker end sent the result: its last words contain MATRIX_SENT"},
	{"the worker sent it, and it is being sent", "", all(second, wrote("end.md"), left(0, "end"), sentBy("end"), delivery(Delivery{State: Sending, Alive: true})),
		"sending", "wait; until 2026-02-28T18:01:43Z"},
	{"delivered: S0-14", "", done, "archive", "archive"},
	{"cancelled", "", after(Action{Do: Cancel, Why: "x"}), "archive", "archive"},
	{"delivered a moment ago", "", all(second, wrote("end.md"), delivery(Delivery{State: Delivered, At: noon})), "parting", "wait; until 2026-02-28T18:02:01Z"},
	{"delivered long ago", "", all(second, wrote("end.md"), delivery(Delivery{State: Delivered, At: noon.Add(-time.Minute)})), "leftover", "kill end; the run is over"},
	{"cancelled, and one lives", "", all(runs(0, "a"), after(Action{Do: Cancel, Why: "x"})), "leftover", "kill a; the run is over"},
	{"a person cancels", "", all(runs(0, "a"), wants(Cancel)), "cancel", "cancel a; cancelled by a person"},
	{"it arrived", "", all(second, delivery(Delivery{State: Uncertain}), wants(Confirm)), "confirm", "confirm"},
	{"send it again", "", all(second, wrote("end.md"), left(0, "end"), delivery(Delivery{State: Uncertain}), wants(Again)), "again", "deliver end end.md"},
	{"it is being sent", "", all(second, wrote("end.md"), left(0, "end"), delivery(Delivery{State: Sending, Alive: true})), "sending", "wait; until 2026-02-28T18:01:43Z"},
	{"it is claimed by one who lives", "", all(second, wrote("end.md"), left(0, "end"), delivery(Delivery{State: Claimed, Alive: true})), "sending", "wait; until 2026-02-28T18:01:43Z"},
	{"it is claimed by one who died", "", all(second, wrote("end.md"), left(0, "end"), delivery(Delivery{State: Claimed})), "deliver", "deliver end end.md"},
	{"it was being sent: F08", "", all(second, wrote("end.md"), left(0, "end"), delivery(Delivery{State: Sending})), "doubt", "settle"},
	{"uncertain", "", all(second, delivery(Delivery{State: Uncertain, Target: "mail"})), "uncertain", "wait; the result may have been sent to mail, and may not"},
	{"retry from a role", "", all(second, wants(Retry), func(f *Facts) { f.Intent.From = "b" }), "retry", "retry b, end; puts aside b.md"},
	{"retry from a phase", "", all(second, wants(Retry), func(f *Facts) { f.Intent.From = "two" }), "retry", "retry end"},
	{"retry from nowhere", "", all(second, wants(Retry), func(f *Facts) { f.Intent.From = "x" }), "wait", "wait; until 2026-02-28T18:08:42Z"},
	{"retry what did not fail", "", all(second, wants(Retry)), "wait", "wait; until 2026-02-28T18:08:42Z"},
	{"take it as it is", "", all(first, left(1, "b"), after(Action{Do: FailPhase}), wants(Resume)), "accept", "accept b"},
	{"resumed", lone, all(runs(0, "a"), wrote("a.md"), left(0, "a"), after(Action{Do: Pause}), wants(Resume)), "resume", "resume"},
	{"paused", lone, all(runs(0, "a"), wrote("a.md"), left(0, "a"), after(Action{Do: Pause})), "paused", "wait; it is paused after the phase one"},
	{"to be paused: S0-15", lone, all(runs(0, "a"), wrote("a.md"), left(0, "a")), "pause", "pause"},
	{"the end: S0-13", "", all(second, wrote("end.md")), "deliver", "deliver end end.md"},
	{"the end, and it sends by itself", two(`"deliver_by": "terminal",`, ""), all(second, wrote("end.md")), "wait", "wait; until 2026-02-28T18:08:42Z"},
	{"it did not send", two(`"deliver_by": "terminal",`, ""), all(second, wrote("end.md"), left(0, "end")), "deliver", "deliver end end.md"},
	{"all of the phase: S0-11", "", first, "complete", "complete phase"},
	{"started anew", strings.Replace(two("", ""), `"role": "a"`, `"role": "a", "retries": 1`, 1), all(runs(0, "a", "b"), left(3, "a")), "respawn",
		"respawn a; a ended with exit status 3, without a.md"},
	{"another agent takes over", "", all(runs(0, "a", "b"), left(3, "a"), func(f *Facts) {
		seen := f.Workers["a"]
		seen.Moved = 1
		f.Workers["a"] = seen
	}), "respawn", "respawn a; a ended with exit status 3, without a.md"},
	{"killed: F03", "", all(runs(0, "a", "b"), func(f *Facts) { f.Workers["a"] = Seen{Attempt: 1} }), "exited", "fail worker a, exited_without_output; a was killed, without a.md"},
	{"an old record", "", all(runs(0, "a", "b"), func(f *Facts) {
		f.Status.Worker("a").Attempt = 2
		f.Workers["a"] = Seen{Attempt: 1, Exited: true, Exit: 7}
	}),
		"exited", "fail worker a, exited_without_output; a was killed, without a.md"},
	{"a small output", strings.Replace(two("", ""), `"role": "a"`, `"role": "a", "min_bytes": 10`, 1), all(runs(0, "a", "b"), wrote("a.md"), left(0, "a")), "exited",
		"fail worker a, exited_without_output; a ended with exit status 0, and a.md has 9 bytes of at least 10; puts aside a.md"},
	{"could not be started: F32", "", all(runs(0, "a", "b"), func(f *Facts) { f.Workers["a"] = Seen{Attempt: 1, Exited: true, Trouble: "no claude"} }), "exited",
		"fail worker a, spawn_failed; a could not be started: no claude"},
	{"waited in vain: S4-04", two(`"spawn": "all", "watchdog": false,`, ""), all(runs(0, "a", "b", "end"), func(f *Facts) { f.Workers["end"] = Seen{Attempt: 1, Exited: true, GaveUp: true} }),
		"exited", "fail worker end, TIMEOUT; end has waited in vain for a.md, b.md"},
	{"in time", "", all(runs(300*time.Second, "a", "b")), "wait", "wait; until 2026-02-28T18:01:42Z"},
	{"too late: S0-16", "", all(runs(301*time.Second, "a", "b")), "timeout", "fail worker a, TIMEOUT; a was not done by 17:59:40"},
	{"too late, but it is there", "", all(runs(301*time.Second, "a", "b"), wrote("a.md", "b.md")), "stray", "kill a, b; it is not needed any more"},
	{"too late, but it is being written", "", all(runs(301*time.Second, "a", "b"), wrote("a.md", "b.md"), func(f *Facts) { f.Files["b.md"] = File{Bytes: 1} }), "stray", "kill a; it is not needed any more"},
	{"far too late", "", all(runs(421*time.Second, "b"), func(f *Facts) { f.Files["b.md"] = File{Bytes: 1} }), "timeout", "fail worker b, TIMEOUT; b was not done by 17:57:40; puts aside b.md"},
	{"too late, but the machine slept", "", all(runs(time.Hour, "a", "b"), func(f *Facts) { f.Woke = noon.Add(-time.Minute) }), "wait", "wait; until 2026-02-28T18:02:42Z"},
	{"done, and lives on", "", all(runs(301*time.Second, "a"), runs(0, "b"), wrote("a.md")), "stray", "kill a; it is not needed any more"},
	{"an input is missing: S0-25", "", all(first, after(Action{Do: Finish}), func(f *Facts) { delete(f.Files, "b.md") }), "input",
		"fail phase end, missing_input; end reads b.md, which is not there"},
	{"the beginning", "", func(*Facts) {}, "spawn", "spawn a, b"},
	{"the beginning of all: S4-01", two(`"spawn": "all",`, ""), func(*Facts) {}, "spawn", "spawn a, b, end"},
	{"one place: S4-08", two(`"max_parallel": 1,`, ""), func(*Facts) {}, "spawn", "spawn a"},
	{"no place", two(`"max_parallel": 1,`, ""), runs(0, "a"), "wait", "wait; until 2026-02-28T18:06:42Z"},
	{"started, but nobody wrote it down: F06", "", all(func(f *Facts) { f.Workers["a"] = Seen{Alive: true, Attempt: 1, Spawned: noon} }), "spawn", "spawn b"},
	{"started, and already gone", "", all(func(f *Facts) { f.Workers["a"] = Seen{Attempt: 1, Exited: true, Exit: 1} }), "exited",
		"fail worker a, exited_without_output; a ended with exit status 1, without a.md"},
	{"nobody is left", "", all(runs(0, "a", "b"), wrote("b.md"), left(0, "a", "b"), after(Action{Do: FailWorker, Roles: []string{"a"}, Reason: NoOutput, Why: "a did nothing"})),
		"failed", "fail phase; a did nothing"},
	{"what there is: S4-11", two(`"watchdog": true,`, ""), all(runs(0, "a", "b"), wrote("b.md"), left(0, "a", "b"),
		after(Action{Do: FailPhase, Roles: []string{"a"}})), "watchdog", "watchdog deliver b; without a, end"},
	{"nothing there is", two(`"watchdog": true,`, ""), all(after(Action{Do: FailPhase, Roles: []string{"a", "b"}, Why: "both"})), "stopped", "wait; both"},
	{"waits for a person", "", all(runs(0, "a", "b"), wrote("b.md"), left(0, "a", "b"), after(Action{Do: FailPhase, Roles: []string{"a"}, Why: "a"})), "stopped", "wait; a"},
	{"at work", "", runs(time.Minute, "a", "b"), "wait", "wait; until 2026-02-28T18:05:42Z"},
	{"writes", "", all(runs(time.Minute, "a", "b"), func(f *Facts) { f.Files["a.md"] = File{Bytes: 1} }), "wait", "wait; until 2026-02-28T18:01:43Z"},
	{"a dialogue", talkText, func(*Facts) {}, "dialogue: open", ""},
}

// TestTheTable: S0-22, S0-23, every row fires, with the arguments that are right for it.
func TestTheTable(t *testing.T) {
	t.Parallel()
	fired := map[string]bool{}
	for _, j := range append(judgements, asked...) {
		t.Run(j.name, func(t *testing.T) {
			text := j.text
			if text == "" {
				text = two("", "")
			}
			f := scene(t, text, j.change)
			a := Decide(f)
			name, _, _ := strings.Cut(a.Row, ":")
			fired[name] = true
			if a.Row != j.row || j.want != "" && a.String() != j.want {
				t.Errorf("got  %s: %s\nwant %s: %s\n%+v", a.Row, a, j.row, j.want, Reconcile(f))
			}
			if got := Explain(f); !strings.Contains(got, fmt.Sprintf("| → %s | ", name)) || !strings.HasSuffix(got, a.Row+": "+a.String()+"\n") {
				t.Errorf("explained as\n%s", got)
			}
		})
	}
	names := map[string]bool{}
	for _, r := range table {
		if !fired[r.name] {
			t.Errorf("never fired: %s", r.name)
		}
		if names[r.name] || r.when == "" || r.then == "" {
			t.Errorf("%s is there twice, or says nothing", r.name)
		}
		names[r.name] = true
	}
}

// TestFilesBeatTheStatus: S0-10, S0-12, S0-14, F04, F16.
func TestFilesBeatTheStatus(t *testing.T) {
	t.Parallel()
	begun := runs(time.Minute, "a", "b")
	hand := func(p Progress) func(*Facts) {
		return func(f *Facts) { f.Status.Worker("a").Status = p }
	}
	for _, test := range []struct {
		name   string
		change func(*Facts)
		want   Progress
		reason Reason
		phase  Progress
	}{
		{"written by hand", all(begun, wrote("a.md")), Completed, "", Running},
		{"said to be pending", all(begun, wrote("a.md"), left(0, "a"), hand(Pending)), Completed, "", Running},
		{"said to be failed", all(begun, wrote("a.md"), left(0, "a"), hand(Failed)), Completed, Late, Running},
		{"the phase is said to have failed", all(begun, wrote("a.md"), func(f *Facts) { f.Status.Phases[0].Status = Failed }), Completed, "", Running},
		{"gone", all(begun, wrote("a.md"), left(0, "a"), func(f *Facts) { f.Status = Reconcile(*f); delete(f.Files, "a.md") }), Failed, Vanished, Running},
		{"gone while it lives", all(begun, wrote("a.md"), func(f *Facts) { f.Status = Reconcile(*f); delete(f.Files, "a.md") }), Running, Vanished, Running},
		{"gone after the phase", all(first, after(Action{Do: Finish}), func(f *Facts) { delete(f.Files, "a.md") }), Completed, "", Completed},
		{"half-written", all(begun, func(f *Facts) { f.Files["a.md"] = File{Bytes: 3} }), Running, "", Running},
		{"empty", all(begun, func(f *Facts) { f.Files["a.md"] = File{Settled: true} }), Running, "", Running},
		{"dead, and it may be half", all(begun, left(1, "a"), func(f *Facts) { f.Files["a.md"] = File{Bytes: 3} }), Completed, Unclean, Running},
		{"killed, and it may be half", all(begun, func(f *Facts) { f.Files["a.md"] = File{Bytes: 3, Settled: true}; f.Workers["a"] = Seen{Attempt: 1} }), Completed, Unclean, Running},
		{"dead, and it was whole before", all(begun, wrote("a.md"), func(f *Facts) { f.Status = Reconcile(*f) }, left(1, "a")), Completed, "", Running},
		{"at the second that would have been too late: S0-16", all(runs(301*time.Second, "a", "b"), wrote("a.md")), Completed, "", Running},
		{"before its phase", all(begun, wrote("end.md")), Running, "", Running},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := scene(t, two("", ""), test.change)
			f.Now = noon.Add(time.Second)
			got := Reconcile(f)
			if s := got.Worker("a"); s.Status != test.want || s.Reason != test.reason || got.Phases[0].Status != test.phase {
				t.Errorf("%s %q, phase %s", s.Status, s.Reason, got.Phases[0].Status)
			}
			if s := got.Worker("end"); s.Status != Pending {
				t.Errorf("end is %s", s.Status)
			}
			f.Status = got
			if again := Reconcile(f); again.Rev != got.Rev {
				t.Error("brought up to date twice")
			}
		})
	}
}
