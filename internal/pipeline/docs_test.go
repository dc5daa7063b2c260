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

Generated from ` + "`internal/pipeline`; `go test ./internal/pipeline -update`" + ` writes it anew.

A pipeline is a list of phases, a phase a list of workers, and a worker an agent that reads files, writes one file and
exits. It knows its task and its paths and nothing else: not the phase it is in, not who comes next. What happens next is
read from the files and looked up in a table. No agent decides it, and nobody has to be told that a worker is done: its
output is there.

- ` + "`workflows.json`" + ` says which pipelines there are. A run keeps a copy of its own, so that an edit changes no run.
- ` + "`status.json`" + ` in the folder of a run says how it stands. Only ferrus writes it.
- The outputs lie beside it, named after who wrote them; ` + "`ls`" + ` shows who is done.

What is there counts, whatever ` + "`status.json`" + ` or a clock says: a file that comes late heals what had failed, and one
that vanishes before its phase is over is a failure. A file is not taken while it grows under a worker that lives, and not
as good when its worker did not end well.

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

It is an object of pipelines by name. Names of pipelines, phases and roles have letters, digits, ` + "`-` and `_`" + `. A mistake
is refused with the place where it stands. ` + "`internal/pipeline/schema.json`" + ` is a JSON schema of it for editors.

` + keyTables() + `
A worker that is given no time has 180 seconds, and 360 with inputs. With ` + "`spawn` `all`" + ` those 360 begin when it is started and
at least 60 of them when its inputs are there; it waits for inputs for 300 seconds, and longer while those who write them
are at work or wait in their turn, so that a long chain is not cut off.

## Running

    ferrus pipeline list                          the pipelines there are
    ferrus pipeline validate                      whether workflows.json is sound; each fault with its place
    ferrus pipeline research "FSA architecture"   starts one and sees it through
    ferrus pipeline status                        who works, who is waited for, what you can do
    ferrus pipeline explain                       the row of the table that fits, and what has happened
    ferrus pipeline logs researcher-a -f          what a worker prints
    ferrus pipeline resume                        after a pause, a crash, or ctrl-C
    ferrus pipeline retry --from researcher-a     has it done anew, and what has used it
    ferrus pipeline deliver --confirm             a result of which nobody knew whether it arrived did; or --again
    ferrus pipeline cancel                        ends the workers and gives it up
    ferrus tick                                   does what is to be done about every run, once

` + "`workflows.json`" + ` stands in the project's folder, else in ` + "`.ferrus`" + `, where ` + "`ferrus init`" + ` writes one to begin with. Who plays a worker is
its ` + "`agent`" + `, else ` + "`[hq.executor]`" + ` of ` + "`ferrus.toml`" + `, as it was when the run was launched. A run under way lies in
` + "`.ferrus/pipeline-tmp`" + `, and when it is over in ` + "`.ferrus/memory/pipelines`" + `; ` + "`[pipelines]`" + ` names other folders. Where the result goes
is said by ` + "`[deliver]`" + `: to stdout, which then holds nothing else, to a file, or to a command.

The command that starts a run conducts it: it looks whenever something happens. Nothing depends on it. When it ends, by
ctrl-C or a crash, the workers go on, and ` + "`ferrus pipeline resume`" + ` does what comes next; so does ` + "`ferrus tick`" + ` from cron, and
both at once are as good as one. With ` + "`spawn` `all`" + ` the workers finish although nobody conducts them.

` + "`ferrus pipeline prompt synthesizer --bash-wait`" + ` is what an agent must be told that ferrus does not start, and
` + "`ferrus wait-file`" + ` waits in a shell for what others write. All about the commands stands in [cli](cli.md).

Files of a run are reached without following a link below the project, and a link, a FIFO or a file of more than 256 MB is
no output. A run whose files are tracked by git is refused: its commands come from a commit.

## What is decided

Whenever something happens, or somebody looks: the status is brought up to date with the files, then the first row that
fits says what is done, again and again until that is to wait. ` + "`ferrus pipeline explain`" + ` shows which row fits a run.

` + Markdown() + `
## Dialogues

The workers of a phase with ` + "`mode` `dialogue`" + ` take turns on ` + "`dialogue.json`" + `: an object with the question, the inputs, who takes
turns with which task, the round, whose turn it is, and the entries ` + "`{round, role, timestamp, content, consensus}`" + `. Ferrus
writes the empty entry; an agent fills its ` + "`content`" + `, and sets ` + "`consensus`" + ` when nothing is left to say. Any other change is
undone from the copy that ferrus keeps. The prompt of a turn is the path and nothing of what was said. When the dialogue is
over its transcript is the phase's output, named after the phase.

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
