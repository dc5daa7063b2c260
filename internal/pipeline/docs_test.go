package pipeline

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/test/golden"
)

// page is the page about pipelines, around its tables.
func page() string {
	return `# Pipelines

Generated from ` + "`internal/pipeline`" + `; ` + "`go test ./internal/pipeline -update`" + ` writes
it.

A pipeline is a list of phases, and a phase is a list of workers. A worker is an
agent, or a command, that reads files, writes one file and exits. It knows its
task and its paths and nothing else: not its phase, and not which worker is
next. ferrus reads the files and looks up the next step in a table. No agent
decides it, and no agent has to report that it is done: its output is there.

- ` + "`workflows.json`" + ` defines the pipelines. A run keeps its own copy, so an edit
  changes no run.
- ` + "`status.json`" + ` in the folder of a run shows its progress. Only ferrus writes
  it.
- The outputs are beside it, each named after its worker. ` + "`ls`" + ` shows which
  workers are done.

The files decide, whatever ` + "`status.json`" + ` or a clock says. A file that appears
late completes a failed worker. A file that vanishes before its phase is over is
a failure. A file does not count while its worker is alive and it still grows.
It does not count by itself if its worker did not end well.

## workflows.json

    {
      "research": {
        "description": "Two views and their synthesis",
        "phases": [
          {"id": "collect", "workers": [
            {"role": "researcher-a", "model": "sonnet", "timeout": 600, "task": "Main sources and facts"},
            {"role": "researcher-b", "model": "sonnet", "timeout": 600, "task": "Criticism and edge cases"}
          ]},
          {"id": "synthesis", "workers": [
            {"role": "synthesizer", "model": "opus", "final": true, "reads": ["researcher-a.md", "researcher-b.md"],
             "task": "Bring both together"}
          ]}
        ]
      }
    }

The file is an object of pipelines by name. Names of pipelines, phases and roles
consist of letters, digits, ` + "`-` and `_`" + `. A mistake is refused with its position.
` + "`internal/config/workflow/schema.json`" + ` is a JSON schema for editors.

` + workflow.KeyTables() + `
A worker without a ` + "`timeout`" + ` has 180 seconds, and 360 with inputs. With ` + "`spawn`" + `
` + "`all`" + ` these 360 seconds begin when it is started, and it has at least 60 of them
after its inputs are there. It waits 300 seconds for inputs. It waits longer
while the workers that write them are at work or wait in turn, so that a long
chain is not cut off.

### Commands

A worker with ` + "`run`" + ` is a command of the shell instead of an agent. It needs no
model, and otherwise it is a worker like the others: with its time, its retries,
its inputs and its place in the phases.

    {
      "lint": {
        "phases": [
          {"id": "look", "workers": [
            {"role": "lint", "run": "make lint > $FERRUS_OUTPUT", "ok_exit": [1], "timeout": 300},
            {"role": "reader", "task": "Read the code of internal/store and write down what you would change"}
          ]},
          {"id": "sum-up", "workers": [
            {"role": "judge", "final": true, "reads": ["lint.md", "reader.md"], "task": "Name the five most urgent changes"}
          ]}
        ]
      }
    }

The command runs in the project's folder by ` + "`/bin/sh -c`" + `. ` + "`$FERRUS_OUTPUT`" + ` is a
temporary file. When the command has exited with 0, or with a code of ` + "`ok_exit`" + `,
the process beside it moves the file into place as the output of the worker. So
the output is there in full or not at all, whatever is killed. Any other exit is
a failure of the worker, and so is an output that is missing or empty. ` + "`ferrus\npipeline status`" + ` then shows the end of what the command printed, and ` + "`ferrus\npipeline logs`" + ` all of it.

| variable | value |
|---|---|
| ` + "`FERRUS_OUTPUT`" + ` | the file to write |
| ` + "`FERRUS_RUN_DIR`" + ` | the folder of the run, with the outputs of other workers |
| ` + "`FERRUS_ROOT`" + ` | the project's folder |
| ` + "`FERRUS_TOPIC`" + ` | the topic of the run |
| ` + "`FERRUS_WORKER`" + ` | its role |

A run keeps the command as it was at the launch. The journal line of a start
names the commands among the workers in ` + "`runs`" + `. Commands in ` + "`workflows.json`" + `
are among the values to which [you agree](security.md) before anything runs.

### Questions

A worker with ` + "`\"asks\": true`" + ` has two more tools, ` + "`ask_human`" + ` and
` + "`wait_for_answer`" + `, like the agents of a task. By default a worker asks nobody.
ferrus tells you of a question once, by ` + "`[notify]`" + ` and in what the run prints.
` + "`ferrus questions`" + `, ` + "`ferrus pipeline status`" + ` and ` + "`ferrus status --all`" + ` show it:

    ferrus answer --run research-180141 q1 "the European market only"

The time of the worker stands still from the question to the answer. So does
that of workers that wait for its output. All others continue. A worker that
still runs receives the answer and has the time that it had left. One that ended
before, for whatever reason, starts anew with the question and the answer in its
prompt. That is no retry, and it has its whole time again.

The questions and answers are in ` + "`questions.json`" + ` in the folder of the run. If
nobody else is at work and no process of the run is left, the command that
conducts the run ends with exit code 6, and ` + "`ferrus answer`" + ` continues it. A
command and a worker with turns in a dialogue cannot ask.

## Running

    ferrus pipeline list                          lists the pipelines
    ferrus pipeline validate                      checks workflows.json, and shows each mistake with its position
    ferrus pipeline research "FSA architecture"   starts a run and follows it to the end
    ferrus pipeline status                        shows the workers, what the run waits for, and your next commands
    ferrus pipeline explain                       shows the row of the table that applies, and the last events
    ferrus pipeline logs researcher-a -f          shows what a worker prints
    ferrus pipeline resume                        continues after a pause, a crash or ctrl-C
    ferrus pipeline retry --from researcher-a     repeats a worker, and every worker that used its output
    ferrus pipeline deliver --confirm             says that an uncertain delivery has arrived; --again repeats it
    ferrus pipeline cancel                        ends the workers and the run
    ferrus pipeline runs                          lists the active and the finished runs
    ferrus pipeline rerun research-180141 --from synthesis -m "Shorter"
                                                  takes a finished run up again in a new folder
    ferrus tick                                   advances all runs once

` + "`workflows.json`" + ` is in the project's folder, or else in ` + "`.ferrus`" + `, where ` + "`ferrus\ninit`" + ` writes one to start from. The agent of a worker is its ` + "`agent`" + `, or else
` + "`[hq.executor]`" + ` of ` + "`ferrus.toml`" + ` at the time of the launch. A running run is in
` + "`.ferrus/pipeline-tmp`" + `, and a finished one in ` + "`.ferrus/memory/pipelines`" + `;
` + "`[pipelines]`" + ` can name other folders. ` + "`[deliver]`" + ` names where the result goes:
to stdout, which then contains nothing else, to a file, or to a command.

The command that starts a run conducts it: it acts whenever something happens.
Nothing depends on it. If it ends by ctrl-C or a crash, the workers continue,
and ` + "`ferrus pipeline resume`" + ` does what comes next. ` + "`ferrus tick`" + ` from cron does
the same, and both may run at once. With ` + "`spawn`" + ` ` + "`all`" + ` the workers finish
without a conductor.

` + "`ferrus pipeline prompt synthesizer --bash-wait`" + ` prints the instructions for an
agent that ferrus does not start. ` + "`ferrus wait-file`" + ` waits in a shell for files
that others write. [Commands](cli/pipeline.md) describes all of them.

ferrus follows no link below the project to reach the files of a run. A link, a
FIFO or a file of more than 256 MB is no output. A run with files that git
tracks is refused, because its commands come from a commit.

## From the chat

A supervisor queues a pipeline with the tool ` + "`queue_task`" + ` and its argument
` + "`pipeline`" + `. In a client that shows MCP prompts you can also choose the prompt
` + "`pipeline`" + ` of the server ` + "`ferrus`" + ` and give it a name and a topic, for example
` + "`/mcp__ferrus__pipeline research caching`" + ` in Claude Code.

The pipeline waits in the queue, in the order of adding, as a file
` + "`.ferrus/queue/ITEM.md`" + ` or as a row of the database. ` + "`ferrus queue --show ITEM`" + `
prints it: its first line is ` + "`pipeline: NAME`" + `, and the topic follows. You start
it:

    ferrus queue                     lists what waits
    ferrus pipeline start            starts all pipelines that wait
    ferrus pipeline start ITEM       starts one, and waits for its result

` + "`ferrus tick`" + ` starts the pipelines that ` + "`[pipelines] allow`" + ` names without asking
you:

    [pipelines]
    allow = ["research"]

You agree to this line like to everything that makes something run, by
` + "`ferrus trust`" + `.

## Reruns

` + "`ferrus pipeline rerun RUN`" + ` starts a new run from a finished one, delivered or
cancelled. It has the workflow of the finished run and its topic, with the text
of ` + "`-m`" + ` added. ` + "`--from`" + ` names a worker or a phase. The workers there work again,
and with them those of later phases, and those that use what they write. By
default that is the first worker that did not finish, or the first phase if all
did.

The other outputs are copied. Each must still have the hash that the journal of
the finished run recorded. The first line of the new journal has the name of the
finished run, the point and the hashes:

    "rerun": {"run": "research-180141", "from": "synthesis",
              "outputs": [{"file": "researcher-a.md", "roles": ["researcher-a"], "sha256": "..."}, ...]}

Nothing in the folder of the finished run changes. Agents, delivery and
notification are those of ` + "`ferrus.toml`" + ` now. The agents and commands in the
workflow must be ones that you have [agreed to](security.md) at some time. A
rerun that is killed early leaves a folder without a journal, which is no run; a
later launch removes it when it is an hour old.

## What is decided

On every tick ferrus updates the status from the files. Then the first row that
fits says what to do. This repeats until the row says to wait. ` + "`ferrus pipeline\nexplain`" + ` shows the row that fits a run.

` + Markdown() + `
## Dialogues

The workers of a phase with ` + "`mode`" + ` ` + "`dialogue`" + ` take turns on ` + "`dialogue.json`" + `.
This is an object with the question, the inputs, the workers with their tasks,
the round, the worker whose turn it is, and the entries ` + "`{round, role,\ntimestamp, content, consensus}`" + `. ferrus writes an empty entry. An agent fills in
its ` + "`content`" + `, and sets ` + "`consensus`" + ` when it agrees and has nothing to add.
ferrus reverts any other change from its own copy. The prompt of a turn is the
path, and nothing of the dialogue. An agent with a turn reads files and edits
` + "`dialogue.json`" + `. It has no shell and no network, unless its client
[cannot be told](agents.md#speakers-of-a-dialogue). At the end the transcript is
the output of the phase, named after the phase.

` + DialogueMarkdown()
}

// TestTheReferencePageIsFresh: docs/pipelines.md is made from the tables.
func TestTheReferencePageIsFresh(t *testing.T) {
	t.Parallel()
	golden.Check(t, "../../docs/pipelines.md", page())
}

// TestTheExamplesOfThePageAreValid: a reader can begin with any of them.
func TestTheExamplesOfThePageAreValid(t *testing.T) {
	t.Parallel()
	n := 0
	for block := range strings.SplitSeq(page(), "\n\n") {
		if !strings.HasPrefix(block, "    {") {
			continue
		}
		n++
		if _, err := workflow.Parse([]byte(block)); err != nil {
			t.Errorf("%v\n%s", err, block)
		}
	}
	if n != 2 {
		t.Errorf("%d examples", n)
	}
}
