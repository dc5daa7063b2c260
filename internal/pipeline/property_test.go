package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/test/kit"
)

// flows are workflows of all kinds, for facts of any kind.
func flows(t testing.TB) []workflow.Workflow {
	var all []workflow.Workflow
	for _, text := range []string{
		two("", ""), two(`"spawn": "all",`, ""), two(`"max_parallel": 1,`, ""), two(`"deliver_by": "terminal", "watchdog": true,`, ""), lone, chain, talkText, talkText,
		workers("", ph("one", `, "mode": "sequential"`, wk("a", `, "retries": 1`), wk("b", reads("a.md")+`, "accept_partial": true`)),
			ph("two", `, "pause_after": true`, wk("end", final))),
		workers(`"spawn": "all", "max_parallel": 2,`, ph("one", `, "mode": "sequential"`, wk("a", ""), wk("b", "")), ph("two", "", wk("c", reads("b.md")), wk("end", final+`, "retries": 2`))),
		workers("", ph("one", "", wk("a", "")), ph("talk", `, "mode": "dialogue", "pause_after": true, "max_rounds": 1`, wk("b", reads("a.md")), wk("c", "")), ph("z", "", wk("end", final+reads("talk.md")))),
		workers("", ph("one", "", wk("a", `, "run": "make lint", "ok_exit": [1], "retries": 1`), wk("b", "")), ph("two", "", wk("end", final+reads("a.md", "b.md")))),
		workers(`"spawn": "all",`, ph("one", "", wk("a", "")), ph("two", "", wk("end", final+reads("a.md")+`, "run": "make report"`))),
	} {
		all = append(all, flow(t, text))
	}
	return all
}

func anyTime(t *rapid.T, what string) time.Time {
	return noon.Add(time.Duration(rapid.IntRange(-900, 100).Draw(t, what)) * time.Second)
}

// anyFacts are facts of any kind, likely and unlikely.
func anyFacts(t *rapid.T, flows []workflow.Workflow) Facts {
	flag := rapid.Bool()
	seldom := rapid.SampledFrom([]bool{false, false, false, false, false, true})
	progress := rapid.SampledFrom([]Progress{Pending, Running, Running, Completed, Completed, Failed})
	w := rapid.SampledFrom(flows).Draw(t, "workflow")
	f := Facts{Workflow: w, Status: New(w, "d", "t", noon.Add(-time.Hour)), Files: map[string]File{}, Workers: map[string]Seen{}, Now: noon}
	f.Status.CurrentPhase = rapid.IntRange(0, len(w.Phases)-1).Draw(t, "current")
	f.Status.ResultDelivered = seldom.Draw(t, "delivered")
	if seldom.Draw(t, "cancelled") {
		f.Status.State = IsCancelled
	}
	for i := range f.Status.Phases {
		p := &f.Status.Phases[i]
		switch {
		case i < f.Status.CurrentPhase:
			p.Status = Completed
		case i == f.Status.CurrentPhase:
			p.Status = rapid.SampledFrom([]Progress{Pending, Running, Running, Paused, Failed}).Draw(t, "phase")
			if flag.Draw(t, "resumed") {
				p.ResumedBy = "ann"
			}
		}
		for j := range p.Workers {
			s := &p.Workers[j]
			if s.Status = progress.Draw(t, "status"); i < f.Status.CurrentPhase && !w.All() {
				s.Status = Completed
			}
			if s.Status == Pending || !f.started(i) {
				s.Status = Pending
			} else {
				s.Attempt = rapid.IntRange(1, 3).Draw(t, "attempt")
				s.StartedAt = anyTime(t, "started")
			}
			if s.Status == Failed && flag.Draw(t, "reason") {
				s.Reason = MissingInput
			}
			if s.Status == Completed && seldom.Draw(t, "unclean") {
				s.Reason = Unclean
			}
			seen := Seen{Attempt: max(0, s.Attempt-rapid.IntRange(0, 1).Draw(t, "old"))}
			switch rapid.IntRange(0, 3).Draw(t, "seen") {
			case 0:
				seen.Exited, seen.Exit, seen.GaveUp = true, rapid.IntRange(0, 1).Draw(t, "exit"), seldom.Draw(t, "gave up")
			case 1, 2:
				if s.Status != Pending || seldom.Draw(t, "unrecorded") {
					seen.Alive, seen.Spawned, seen.Attempt = true, s.StartedAt, max(s.Attempt, 1)
					if seen.Waiting = w.All() && flag.Draw(t, "waits"); !seen.Waiting {
						seen.Began = anyTime(t, "began")
					}
				}
			}
			f.Workers[s.Role] = seen
			if s.Status == Completed && !seldom.Draw(t, "gone") || seldom.Draw(t, "there") {
				f.Files[s.Output] = File{Bytes: int64(rapid.IntRange(0, 9).Draw(t, "bytes")), Settled: flag.Draw(t, "settled")}
			}
		}
	}
	if seldom.Draw(t, "delivery") {
		f.Delivery = Delivery{State: rapid.SampledFrom([]DeliverState{Claimed, Sending, Delivered, Uncertain}).Draw(t, "state"), At: anyTime(t, "at"),
			Alive: flag.Draw(t, "deliverer")}
		f.Delivery.Alive = f.Delivery.Alive && f.Delivery.State != Delivered && f.Delivery.State != Uncertain
	}
	if flag.Draw(t, "intent") {
		f.Intent.Verb = rapid.SampledFrom([]Verb{Cancel, Resume, Retry, Retry, Confirm, Again}).Draw(t, "verb")
		f.Intent.From = rapid.SampledFrom([]string{"", "", "a", "one", "end", "nobody"}).Draw(t, "from")
	}
	if seldom.Draw(t, "slept") {
		f.Woke = anyTime(t, "woke")
	}
	for _, p := range w.Phases {
		if p.How() == workflow.Talking && !seldom.Draw(t, "silence") {
			d := open(p, "q").Offer(noon)
			if flag.Draw(t, "said") {
				d.Dialogue[0].Content, d.Dialogue[0].Consensus = "x", !seldom.Draw(t, "dissent")
			}
			f.Talk.Base, f.Talk.Text = d.Encode(), d.Encode()
			if d.Dialogue[0].Content = "y"; rapid.IntRange(0, 2).Draw(t, "edited") == 0 {
				f.Talk.Text = d.Encode()
			}
			if seldom.Draw(t, "torn") {
				f.Talk.Text = []byte("{")
			}
		}
	}
	return f
}

// nearly are the facts of one of the table's cases, some of them changed.
func nearly(t *rapid.T, test testing.TB) Facts {
	j := rapid.SampledFrom(judgements).Draw(t, "case")
	text := j.text
	if text == "" {
		text = two("", "")
	}
	f := scene(test, text, j.change)
	f.Now = f.Now.Add(time.Duration(rapid.IntRange(-1, 300).Draw(t, "later")) * time.Second)
	for _, role := range []string{"a", "b", "end"} {
		seen := f.Workers[role]
		switch rapid.IntRange(0, 9).Draw(t, role) {
		case 0:
			seen.Alive, seen.Attempt, seen.Exited = true, max(seen.Attempt, 1), false
		case 1:
			seen.Alive, seen.Waiting = false, false
		case 2:
			delete(f.Files, role+".md")
		case 3:
			f.Files[role+".md"] = File{Bytes: 3}
		}
		f.Workers[role] = seen
	}
	return f
}

// TestWhateverTheFactsOneActionIsSound holds for all facts what may never be done about a run.
func TestWhateverTheFactsOneActionIsSound(t *testing.T) {
	t.Parallel()
	flows := flows(t)
	done := map[string]int{}
	rounds := 20 // of a hundred facts each
	if kit.Quick() {
		rounds = 5
	}
	test := t
	sound := func(t *rapid.T) {
		f := anyFacts(t, flows)
		if rapid.Bool().Draw(t, "likely") { // one of the table's own cases, with something else about it
			f = nearly(t, test)
		}
		before := fmt.Sprintf("%+v", f)
		a := Decide(f)
		if again := Decide(f); !reflect.DeepEqual(again, a) || fmt.Sprintf("%+v", f) != before {
			t.Fatalf("decided twice, or the facts were changed: %s and %s", a, again)
		}
		f.Status = Reconcile(f)
		if again := Reconcile(f); again.Rev != f.Status.Rev {
			t.Fatalf("brought up to date twice:\n%+v\n%+v", f.Status, again)
		}
		done[string(a.Do)]++
		must := func(claim bool, what string) {
			t.Helper()
			if !claim {
				t.Fatalf("%s: %s: %s\n%+v", a.Row, a, what, f)
			}
		}
		over := f.Status.ResultDelivered || f.Status.State == IsCancelled
		must(!over || a.Do == Archive || a.Do == Kill || a.Do == Wait, "the run is over")
		for i, role := range a.Roles {
			must(f.Status.Worker(role) != nil && !slices.Contains(a.Roles[:i], role), "nobody, or twice")
		}
		switch a.Do {
		case Start, Restart, Turn:
			must(len(a.Roles) > 0, "nobody")
			must(f.Workflow.All() || len(f.all(func(s WorkerStatus) bool { return f.Workers[s.Role].Alive }))+len(a.Roles) <= f.Workflow.Cap(), "more than the cap")
			must(f.current().Status != Paused && !f.underway() || f.Delivery.State == Claimed && !f.Delivery.Alive, "it is paused, or being delivered")
			for _, role := range a.Roles {
				s := f.Status.Worker(role)
				must(!f.Workers[role].Alive, "it lives")
				must(f.Workflow.All() || len(f.lost(role)) == 0 || a.Do == Restart, "its inputs are missing")
				k, phase := f.Workflow.Worker(role)
				must(f.started(phase), "its phase has not begun")
				must(a.Do != Restart || s.Attempt-f.Workers[s.Role].Moved <= k.Retries, "more often than it may")
				must(a.Do == Restart || s.Status == Pending, "it is not pending")
				after := f.Status.After(a, f.Now)
				must(after.Worker(role).Status == Running && after.Worker(role).Attempt == s.Attempt+1, "it does not run after that")
			}
		case Deliver, Watchdog:
			_, there := f.Files[a.File]
			must(a.Do == Watchdog || there, "there is nothing to deliver")
			must(!f.underway() || f.Delivery.State == Claimed && !f.Delivery.Alive, "it is being delivered")
			must(f.Delivery.State != Uncertain || f.Intent.Verb == Again, "it may be delivered already")
			must(f.Status.After(a, f.Now).ResultDelivered, "it is not delivered after that")
		case Archive:
			must(over && len(f.living()) == 0, "it is not over")
		case Kill:
			must(len(a.Roles) > 0, "nobody")
			for _, role := range a.Roles {
				must(f.Workers[role].Alive, "it does not live")
			}
		case FailWorker:
			must(len(a.Roles) == 1 && f.Status.Worker(a.Roles[0]).Status == Running && a.Why != "" && a.Reason != "", "it does not run, or why")
			_, whole := f.Files[f.Status.Worker(a.Roles[0]).Output]
			must(!whole || slices.Contains(a.Aside, f.Status.Worker(a.Roles[0]).Output), "what it left would count later")
		case Retry:
			for _, role := range a.Roles {
				_, there := f.Files[f.Status.Worker(role).Output]
				must(!there || slices.Contains(a.Aside, f.Status.Worker(role).Output), "the old output would count")
			}
		case Wait:
			must(reflect.DeepEqual(f.Status.After(a, f.Now), f.Status), "a wait writes") // S0-17
			must(a.Person || a.Until.After(f.Now), "nothing would wake it")
			must(!a.Person || a.Why != "", "a person is not told for what")
		case FailPhase:
			must(f.Status.Phases[a.Phase].Status != Failed && a.Tell != "" && f.Status.After(a, f.Now).State == IsFailed, "in vain, or in silence")
		case Finish:
			must(f.done(a.Phase) && !f.Status.Phases[a.Phase].PauseAfter || f.Status.Phases[a.Phase].ResumedBy != "", "it is not done, or to be paused")
		}
		next := f.Status.After(a, f.Now)
		must(next.CurrentPhase >= 0 && next.CurrentPhase < len(next.Phases), "there is no such phase")
		text, err := next.Encode()
		must(err == nil, "it cannot be written")
		back, err := Decode(text)
		must(err == nil && reflect.DeepEqual(back, next), fmt.Sprintf("it cannot be read: %v", err))
	}
	undone := func() (list []Verb) {
		for _, v := range []Verb{Archive, Wait, Kill, Cancel, Confirm, Deliver, Settle, Retry, Accept, Resume, Pause, Finish, Start, Restart, FailWorker,
			FailPhase, Watchdog, Write} { // a dialogue's turns are played elsewhere
			if done[string(v)] == 0 && !kit.Quick() {
				list = append(list, v)
			}
		}
		return list
	}
	for n := 0; n < rounds || n < 10*rounds && len(undone()) > 0; n++ {
		rapid.Check(t, sound)
	}
	t.Log(done)
	if list := undone(); len(list) > 0 {
		t.Errorf("never done: %s", list)
	}
}
