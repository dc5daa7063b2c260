package conductor

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

// markdown is the page about the conductor, around its two tables.
func markdown() string {
	return `# The conductor

Generated from ` + "`internal/conductor`" + `; ` + "`go test ./internal/conductor -update`" + ` writes it. ` + "`ferrus\nrun --explain`" + ` prints the same tables.

` + "`ferrus run`" + ` and ` + "`ferrus resume`" + ` are one loop. It reads the state and which
agents are alive, looks both up in the tables below, does the one thing that
they say, and waits until something changes. It stores nothing else: if it is
killed and started again, it continues from the files. A task has one conductor
at a time. The section ` + "`[hq]`" + ` of ` + "`ferrus.toml`" + ` names the agents that it starts.

A question ends a run that nobody sits at. The answer starts it again: on the
screen and the page at once, as a process of its own; on a terminal ` + "`ferrus\nanswer`" + ` asks whether to continue; a script says ` + "`ferrus answer --resume`" + `. The
same holds for ` + "`reject`, `reopen`, `send` and `merge --resolve`" + `. Nothing is started
while a run works on the task, or if no run has ever worked on it. For a delegate
the run of the task is continued that it is a part of. If the computer fails
between the answer and the start, ` + "`ferrus resume`" + ` continues. The lock of the
conductor decides between several starts.

` + "`" + `limits.max_day_minutes` + "`" + `, ` + "`" + `max_day_tokens` + "`" + ` and ` + "`" + `max_day_dollars` + "`" + ` limit what the
agents of the project use on one day of ` + "`" + `limits.day_zone` + "`" + `; in your own
` + "`" + `config.toml` + "`" + ` they hold for all your projects on this computer. They are checked
before each start, also of delegates and of workers of pipelines. Running agents
are not ended, so a day may exceed its limit by what is at work. The rest waits
until midnight. You are notified once, and ` + "`" + `ferrus usage --allow-today` + "`" + ` lets agents
start all the same. ` + "`" + `ferrus usage` + "`" + ` shows what was used.

` + "`ferrus step`" + ` uses the same tables without the loop: one decision for the task,
each branch and each pipeline, from the facts at the start of the step, and then
it returns. It is for cron. The agents that it starts keep running:

    * * * * * cd ~/src/site && ferrus step --parallel 4

Free places are taken in the order of names, and at most one branch is merged in
a step. Otherwise the order of the decisions does not matter. ` + "`ferrus tick`" + `
advances only pipelines, until nothing is left to do now.

` + Explain()
}

// TestTheReferencePageIsFresh: docs/conductor.md is made from the tables.
func TestTheReferencePageIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/conductor.md", markdown())
	for _, r := range rules {
		if !strings.Contains(markdown(), "| "+r.when+" | "+r.then+" |") {
			t.Errorf("not there: %s", r.when)
		}
	}
}
