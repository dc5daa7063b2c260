package pipeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// page is the page about pipelines, around its tables.
func page() string {
	return `# Pipelines

Generated from ` + "`internal/pipeline`" + `; ` + "`go test ./internal/pipeline -update`" + ` writes
it.

A pipeline is a list of phases, and a phase is a list of workers. A worker is an
agent that reads files, writes one file and exits. It knows its task and its
paths and nothing else: not its phase, and not which worker is next. ferrus
reads the files and looks up the next step in a table. No agent decides it, and
no agent has to report that it is done: its output is there.

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
` + "`internal/pipeline/schema.json`" + ` is a JSON schema for editors.

` + keyTables() + `
A worker without a ` + "`timeout`" + ` has 180 seconds, and 360 with inputs. With ` + "`spawn`" + `
` + "`all`" + ` these 360 seconds begin when it is started, and it has at least 60 of them
after its inputs are there. It waits 300 seconds for inputs. It waits longer
while the workers that write them are at work or wait in turn, so that a long
chain is not cut off.

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
that others write. [Commands](cli.md) describes all of them.

ferrus follows no link below the project to reach the files of a run. A link, a
FIFO or a file of more than 256 MB is no output. A run with files that git
tracks is refused, because its commands come from a commit.

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
path, and nothing of the dialogue. At the end the transcript is the output of
the phase, named after the phase.

` + DialogueMarkdown()
}

// keyTables are the keys of a pipeline, of a phase and of a worker.
func keyTables() string {
	var b strings.Builder
	for _, o := range []struct {
		name string
		keys []key
	}{{"pipeline", pipelineKeys}, {"phase", phaseKeys}, {"worker", workerKeys}} {
		fmt.Fprintf(&b, "### A %s\n\n| key | value | left out | means |\n|---|---|---|---|\n", o.name)
		for _, k := range o.keys {
			value, usual := string(k.kind), k.usual
			switch {
			case k.words != nil:
				value = "`" + strings.Join(k.words, "`, `") + "`"
			case k.kind == number:
				value += " " + k.span()
			case k.kind == objects:
				value = "list of " + k.name
			}
			if k.need {
				usual = "needed"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, value, usual, k.means)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestTheReferencePageIsFresh: docs/pipelines.md is made from the tables.
func TestTheReferencePageIsFresh(t *testing.T) {
	t.Parallel()
	golden(t, "../../docs/pipelines.md", page())
}

// ordered is a JSON object with its keys in order.
type ordered []member

type member struct {
	key   string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, m := range o {
		value, err := plainly(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: ",", false: "{"}[i > 0], m.key, value)
	}
	return []byte(b.String() + "}"), nil
}

// schemaOf is the JSON schema of an object with these keys.
func schemaOf(keys []key) ordered {
	var props ordered
	var need []string
	for _, k := range keys {
		o := ordered{{"description", strings.ReplaceAll(k.means, "`", "")}}
		switch k.kind {
		case textual:
			o = append(o, member{"type", "string"})
			if k.words != nil {
				o = append(o, member{"enum", k.words})
			} else if k.need {
				o = append(o, member{"pattern", `\S`})
			}
		case yesno:
			o = append(o, member{"type", "boolean"})
		case number:
			o = append(o, member{"type", "integer"}, member{"minimum", k.least}, member{"maximum", k.most})
			if k.nonzero {
				o = append(o, member{"not", ordered{{"const", 0}}})
			}
		case names:
			o = append(o, member{"type", "array"}, member{"uniqueItems", true}, member{"items", ordered{{"type", "string"}}})
		case objects:
			o = append(o, member{"type", "array"}, member{"minItems", 1}, member{"items", schemaOf(k.of)})
		}
		props = append(props, member{k.name, o})
		if k.need {
			need = append(need, k.name)
		}
	}
	return ordered{{"type", "object"}, {"additionalProperties", false}, {"required", need}, {"properties", props}}
}

// TestTheSchemaIsTheTable: schema.json is made from the table of keys.
func TestTheSchemaIsTheTable(t *testing.T) {
	t.Parallel()
	text, err := indented(ordered{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "workflows.json of ferrus"}, {"type", "object"},
		{"minProperties", 1}, {"additionalProperties", schemaOf(pipelineKeys)}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", string(text))
	if !*update && (string(Schema) != string(text) || !json.Valid(Schema)) {
		t.Error("the schema that is built in is another")
	}
}

// TestTheKeysAreTheFields: what the table of keys has, the types have, and of that kind.
func TestTheKeysAreTheFields(t *testing.T) {
	t.Parallel()
	kinds := map[reflect.Kind]kind{reflect.String: textual, reflect.Bool: yesno, reflect.Pointer: yesno, reflect.Int: number, reflect.Int64: number}
	for _, o := range []struct {
		of   reflect.Type
		keys []key
	}{{reflect.TypeFor[Workflow](), pipelineKeys}, {reflect.TypeFor[Phase](), phaseKeys}, {reflect.TypeFor[Worker](), workerKeys}} {
		var fields []string
		for f := range o.of.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			fields = append(fields, name)
			i := slices.IndexFunc(o.keys, func(k key) bool { return k.name == name })
			if i < 0 {
				t.Errorf("%s has %s, which is no key", o.of, name)
				continue
			}
			want := kinds[f.Type.Kind()]
			if f.Type.Kind() == reflect.Slice {
				want = map[bool]kind{true: names, false: objects}[f.Type.Elem().Kind() == reflect.String]
			}
			if k := o.keys[i]; k.kind != want || k.need == strings.HasPrefix(options, "omit") {
				t.Errorf("%s: a %s in the table, a %s in the type; or only one of them can be left out", name, k.kind, want)
			}
		}
		for _, k := range o.keys {
			if !slices.Contains(fields, k.name) {
				t.Errorf("the key %s is no field of %s", k.name, o.of)
			}
		}
	}
}
