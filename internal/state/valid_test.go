package state

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A forgery is a field of a task with a value that ferrus never writes.
type forgery struct{ field, fields string }

func (f forgery) json() string { return `{"schema_version":2,"state":"Executing",` + f.fields + `}` }

var hostile = []forgery{
	{"task_id", `"task_id":"../../x*"`},
	{"task_id", `"task_id":"t-../x"`},
	{"task_id", `"task_id":"t-a/b"`},
	{"task_id", `"task_id":"t-*"`},
	{"task_id", `"task_id":"t-[a-z]"`},
	{"task_id", `"task_id":"t-a\\b"`},
	{"task_id", `"task_id":"t-a\nb"`},
	{"task_id", `"task_id":"t-` + strings.Repeat("a", 62) + `"`},
	{"task_id", `"task_id":"branches"`},
	{"task_id", `"task_id":"/etc"`},
	{"task_id", `"task_id":"--help"`},
	{"title", `"title":"` + strings.Repeat("a", 5000) + `"`},
	{"seq", `"seq":18446744073709551615`},
	{"epoch", `"epoch":18446744073709551615`},
	{"check_retries", `"check_retries":-1`},
	{"review_cycles", `"review_cycles":-9223372036854775808`},
	{"failure_reason", `"failure_reason":"` + strings.Repeat("a", 1<<21+1) + `"`},
	{"claimed_by", `"claimed_by":"executor\n:x"`},
	{"session", `"session":"../../etc/passwd"`},
	{"session", `"session":"-x"`},
	{"paused", `"paused":[` + strings.TrimSuffix(strings.Repeat(`{"id":"q1","state":"Executing"},`, 17), ",") + `]`},
	{"paused.id", `"paused":[{"id":"../q1","state":"Executing"}]`},
	{"paused.kind", `"paused":[{"id":"q1","state":"Executing","kind":"a b"}]`},
	{"paused.by", `"paused":[{"id":"q1","state":"Executing","by":"a\nb"}]`},
	{"check.id", `"check":{"id":"../k1"}`},
	{"check.status", `"check":{"id":"k1","status":"sure"}`},
	{"check.tree", `"check":{"tree":"HEAD"}`},
	{"check.tree", `"check":{"tree":"--output=/etc/x"}`},
	{"check.gate", `"check":{"gate":"abc"}`},
	{"check.log", `"check":{"log":"/etc/passwd"}`},
	{"check.log", `"check":{"log":"../../x.log"}`},
	{"check.log", `"check":{"log":"logs/../../x.log"}`},
	{"check.log", `"check":{"log":"logs/a/b.log"}`},
	{"check.log", `"check":{"log":"STATE.json"}`},
	{"check.log", `"check":{"log":"logs/x"}`},
	{"check.errors", `"check":{"errors":-1}`},
	{"check.same", `"check":{"same":-1}`},
	{"check.sum", `"check":{"sum":"a/b"}`},
	{"score.tree", `"score":{"tree":"HEAD"}`},
	{"score.gate", `"score":{"gate":"abc"}`},
	{"score.log", `"score":{"log":"../x.log"}`},
	{"variant.agent", `"variant":{"agent":"sh -c"}`},
	{"variant.model", `"variant":{"agent":"codex","model":"a\nb"}`},
	{"submission.id", `"submission":{"id":"x"}`},
	{"submission.tree", `"submission":{"tree":"HEAD^{tree}"}`},
	{"submission.base", `"submission":{"base":"-x"}`},
	{"submission.patch", `"submission":{"patch":"/home/u/.ssh/id_rsa"}`},
	{"submission.patch", `"submission":{"patch":"../x.patch"}`},
	{"submission.patch", `"submission":{"patch":"logs/..\\x.patch"}`},
	{"submission.patch", `"submission":{"patch":"live/x.patch"}`},
	{"consultation.id", `"consultation":{"id":"c"}`},
	{"issued.questions", `"issued":{"questions":-1}`},
	{"issued.consultations", `"issued":{"consultations":-1}`},
	{"issued.checks", `"issued":{"checks":-1}`},
	{"issued.submissions", `"issued":{"submissions":9223372036854775807}`},
	{"asked.executor", `"asked":{"executor":"q"}`},
	{"asked.supervisor", `"asked":{"supervisor":"Q1"}`},
	{"base_tree", `"base_tree":"main"`},
	{"base_commit", `"base_commit":"HEAD"`},
	{"base_commit", `"base_commit":"--upload-pack=x"`},
	{"set_up_tree", `"set_up_tree":"main"`},
	{"issue", `"issue":"https://github.com/me/p/issues/42 x"`},
	{"issue", `"issue":"http://github.com/me/p/issues/-1"`},
	{"worktree", `"worktree":"/` + strings.Repeat("a", 1<<15) + `"`},
	{"pin.off", `"pin":{"off":-1}`},
	{"pin.sha256", `"pin":{"sha256":"x"}`},
	{"docs", `"docs":{"../x":{"off":1,"sha256":""}}`},
	{"docs", `"docs":{"journal.jsonl":{"off":1,"sha256":""}}`},
	{"docs.TASK.md.off", `"docs":{"TASK.md":{"off":-1}}`},
	{"docs.TASK.md.sha256", `"docs":{"TASK.md":{"off":1,"sha256":"../"}}`},
	{"decisions", `"decisions":[` + strings.TrimSuffix(strings.Repeat(`{"id":"q1","off":1},`, 33), ",") + `]`},
	{"decisions.id", `"decisions":[{"id":"q/1"}]`},
	{"progress.off", `"progress":[{"off":-1}]`},
	{"consultations.off", `"consultations":[{"off":-1}]`},
	{"messages", `"messages":[` + strings.TrimSuffix(strings.Repeat(`{"id":"m1","to":"executor","off":1},`, 33), ",") + `]`},
	{"messages.id", `"messages":[{"id":"m/1","to":"executor","off":1}]`},
	{"messages.to", `"messages":[{"id":"m1","to":"human","off":1}]`},
	{"messages.off", `"messages":[{"id":"m1","to":"executor","off":-1}]`},
	{"issued.messages", `"issued":{"messages":-1}`},
	{"unattended.id", `"unattended":[{"id":"a b"}]`},
	{"violations", `"violations":-1`},
	{"branch", `"branch":"../x"`},
	{"branch", `"branch":"-x"`},
	{"merged", `"merged":"x"`},
	{"returning.to", `"returning":{"to":18446744073709551615,"tree":""}`},
	{"returning.from", `"returning":{"from":"a/../b","tree":""}`},
	{"returning.was", `"returning":{"was":"x","tree":""}`},
	{"returning.tree", `"returning":{"tree":"x"}`},
}

func TestAForgedFieldIsRefusedByItsName(t *testing.T) {
	for _, c := range hostile {
		task := full()
		var wrong *FieldError
		if err := json.Unmarshal([]byte(c.json()), &task); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%.100s: %v", c.fields, err)
		}
	}
	// Each is refused for that field: without it the rest is read.
	var task Task
	if err := json.Unmarshal([]byte(forgery{fields: `"title":"a"`}.json()), &task); err != nil {
		t.Error(err)
	}
}

// TestEveryOffsetIsNamed: what the store holds to the journal is all that there is.
func TestEveryOffsetIsNamed(t *testing.T) {
	task := full()
	seen := 0
	task.Offsets(func(_ string, _ int64) { seen++ })
	text := encode(t, task)
	if want := strings.Count(text, `"off":`) + strings.Count(text, `"budget_from":`); seen != want {
		t.Errorf("%d of %d offsets", seen, want)
	}
}
