package pipeline

import (
	"strings"
	"testing"
	"time"
)

// asks has workers asked a question, so long ago; the id is that of the number of questions.
func asks(ago time.Duration, role string) func(*Facts) {
	return func(f *Facts) {
		f.Questions = append(f.Questions, Question{ID: "q" + string(rune('1'+len(f.Questions))), Role: role, Attempt: max(1, f.Status.Worker(role).Attempt),
			Text: "Which?\n\n1. this\n", At: f.Now.Add(-ago)})
	}
}

// answered has the newest question answered, so long ago.
func answered(ago time.Duration, read bool) func(*Facts) {
	return func(f *Facts) {
		q := &f.Questions[len(f.Questions)-1]
		q.Answer, q.By, q.Answered, q.Read = "1. this", "human", f.Now.Add(-ago), read
	}
}

// told has the rows about questions done that are due.
func told(f *Facts) {
	for {
		a := Decide(*f)
		if a.Do != Ask && a.Do != Answer {
			return
		}
		after(a)(f)
	}
}

var (
	killed  = func(role string) func(*Facts) { return func(f *Facts) { f.Workers[role] = Seen{Attempt: 1} } }
	waiting = func(f *Facts) {
		f.Workers["end"] = Seen{Alive: true, Waiting: true, Attempt: 1, Spawned: f.Status.Worker("end").StartedAt}
	}
	allAtOnce = two(`"spawn": "all", "watchdog": false,`, "")
)

// asked are the judgements about questions of workers.
var asked = []judgement{
	{"a question", "", all(runs(time.Minute, "a", "b"), asks(0, "a")), "ask", "ask a; a asks q1: Which? 1. this"},
	{"a question of one that has ended", "", all(runs(time.Minute, "a", "b"), asks(0, "a"), left(0, "a")), "ask", "ask a; a asks q1: Which? 1. this"},
	{"asked, and another works", "", all(runs(time.Minute, "a", "b"), asks(0, "a"), told), "wait", "wait; until 2026-02-28T18:05:42Z"},
	{"asked, and nobody else works", "", all(runs(time.Minute, "a", "b"), wrote("b.md"), left(0, "b"), asks(0, "a"), told), "asking", "wait; a asks q1: Which? 1. this"},
	{"asked, and gone", "", all(runs(time.Minute, "a", "b"), wrote("b.md"), left(0, "a", "b"), asks(0, "a"), told), "asking", "wait; a asks q1: Which? 1. this"},
	{"its time is over while it waits", "", all(runs(time.Hour, "a", "b"), wrote("b.md"), left(0, "b"), asks(58*time.Minute, "a"), told), "asking", "wait; a asks q1: Which? 1. this"},
	{"the other's time is over all the same", "", all(runs(time.Hour, "a", "b"), asks(58*time.Minute, "a"), told), "timeout", "fail worker b, TIMEOUT; b was not done by 17:04:41"},
	{"answered", "", all(runs(time.Minute, "a", "b"), asks(time.Second, "a"), told, answered(0, false)), "answer", "answer a; the answer to q1: 1. this"},
	{"answered, and at work", "", all(runs(time.Hour, "a", "b"), wrote("b.md"), left(0, "b"), asks(58*time.Minute, "a"), answered(time.Second, true), told), "wait", "wait; until 2026-02-28T18:04:41Z"},
	{"answered, and its time is over", "", all(runs(time.Hour, "a", "b"), wrote("b.md"), left(0, "b"), asks(58*time.Minute, "a"), answered(10*time.Minute, true), told), "timeout",
		"fail worker a, TIMEOUT; a was not done by 17:52:41"},
	{"answered, and gone before", "", all(runs(time.Minute, "a", "b"), left(1, "a"), asks(time.Second, "a"), answered(0, false), told), "continue", "continue a; the answer to q1 is there"},
	{"answered, and gone after", "", all(runs(time.Minute, "a", "b"), left(1, "a"), asks(time.Second, "a"), answered(0, true), told), "exited",
		"fail worker a, exited_without_output; a ended with exit status 1, without a.md"},
	{"answered, and no place is free", two(`"max_parallel": 1,`, ""), all(runs(time.Minute, "a"), killed("a"), asks(time.Second, "a"), answered(0, false), told, runs(time.Minute, "b")),
		"wait", "wait; until 2026-02-28T18:05:42Z"},
	{"done without the answer", "", all(first, asks(time.Second, "a")), "complete", "complete phase"},
	{"retried while it asked", "", all(runs(time.Minute, "a", "b"), asks(0, "a"), after(Action{Do: Retry, Roles: []string{"a"}}), killed("a")), "spawn", "spawn a"},
	{"an input of one that asks", allAtOnce, all(runs(time.Hour, "a", "b", "end"), wrote("b.md"), left(0, "a", "b"), waiting, asks(0, "a"), told), "asking", "wait; a asks q1: Which? 1. this"},
	{"what there is, and one asks", two(`"watchdog": true,`, ""), all(runs(time.Minute, "a", "b"), wrote("b.md"), left(0, "a", "b"), asks(0, "a"), told,
		func(f *Facts) { f.Status.Phases[1].Status = Failed; f.Status.Worker("end").Status = Failed }), "asking", "wait; a asks q1: Which? 1. this"},
}

// TestAQuestionIsNoRetry: a worker that ended for its questions keeps its retries, and no other does.
func TestAQuestionIsNoRetry(t *testing.T) {
	t.Parallel()
	text := strings.Replace(two("", ""), `"role": "a"`, `"role": "a", "retries": 1`, 1)
	f := scene(t, text, all(runs(time.Minute, "a", "b"), left(1, "a"), asks(time.Second, "a"), answered(0, false), told))
	again := func(want Verb, retries int) {
		t.Helper()
		a := Decide(f)
		if a.Do != want {
			t.Fatalf("%s: %s, not %s", a.Row, a, want)
		}
		after(a)(&f)
		if f.Status.RetryCount != retries {
			t.Errorf("%d retries after %s", f.Status.RetryCount, a)
		}
		f.Workers["a"] = Seen{Attempt: f.Status.Worker("a").Attempt, Exited: true, Exit: 1}
	}
	again(Continue, 0)
	asks(0, "a")(&f)
	answered(0, false)(&f)
	told(&f)
	again(Continue, 0)
	again(Restart, 1)
	again(FailWorker, 1)
}

// TestADeadlineDoesNotMoveWhileAWorkerWaits: a tick that finds nothing new writes nothing.
func TestADeadlineDoesNotMoveWhileAWorkerWaits(t *testing.T) {
	t.Parallel()
	f := scene(t, two("", ""), all(runs(time.Minute, "a", "b"), wrote("b.md"), left(0, "b"), asks(0, "a"), told))
	f.Status = Reconcile(f)
	rev, end := f.Status.Rev, f.Status.Worker("a").Deadline
	f.Now = f.Now.Add(100 * time.Hour)
	if f.Status = Reconcile(f); f.Status.Rev != rev || !f.Clock("a").Equal(noon) {
		t.Errorf("revision %d and %d, the clock of a is at %v", rev, f.Status.Rev, f.Clock("a"))
	}
	answered(0, true)(&f)
	if f.Status = Reconcile(f); f.Status.Worker("a").Deadline.Sub(end) != 100*time.Hour {
		t.Errorf("it ends at %v, and was to end at %v", f.Status.Worker("a").Deadline, end)
	}
}

// TestAPromptHasTheAnswersOfItsWorker, and not those of others.
func TestAPromptHasTheAnswersOfItsWorker(t *testing.T) {
	t.Parallel()
	f := scene(t, two("", ""), all(asks(0, "a"), answered(0, false), asks(0, "b"), answered(0, false), asks(0, "a")))
	if got := Decisions("a", f.Questions); strings.Count(got, "A person answered:\n\n1. this") != 1 || !strings.Contains(got, "in q1:\n\nWhich?\n\n1. this\n") {
		t.Error(got)
	}
	if got := Decisions("end", f.Questions); got != "" {
		t.Error(got)
	}
	f.Questions[0].Answer = strings.Repeat("ä", promptBytes)
	if got := Decisions("a", f.Questions); len(got) > 2*promptBytes || !strings.Contains(got, "wait_for_answer") {
		t.Errorf("%d bytes", len(got))
	}
}
