package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// TestTheOriginalWorkflowLoads: S0-01.
func TestTheOriginalWorkflowLoads(t *testing.T) {
	t.Parallel()
	all, err := Parse(read(t, "../../pipeline/testdata/workflows.json"))
	if err != nil {
		t.Fatal(err)
	}
	w, ok := all.Find("research")
	if _, other := all.Find("x"); !ok || other {
		t.Error("not found by its name, or by another")
	}
	role, file := w.Final()
	if role != "synthesizer" || file != "synthesizer.md" || w.All() || w.Watched() || w.ByTerminal() || w.Cap() != 4 || !w.Notifies() ||
		w.Marker() != "MATRIX_SENT" {
		t.Errorf("defaults: %s %s %+v", role, file, w)
	}
	if got := w.Waits("synthesizer"); !slices.Equal(got, []string{"researcher-a.md", "researcher-b.md"}) {
		t.Errorf("reads %v", got)
	}
	copied, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again := flow(t, string(copied)); !cmp.Equal(again, w) {
		t.Errorf("the copy differs: %s", cmp.Diff(w, again))
	}
}

func TestTheOrderOfTheFileIsKept(t *testing.T) {
	t.Parallel()
	one := `{"phases": [` + ph("x", "", wk("r", final)) + `]}`
	all, err := Parse([]byte(`{"z": ` + one + `, "a": ` + one + `, "m": ` + one + `}`))
	if err != nil || all[0].Name != "z" || all[1].Name != "a" || all[2].Name != "m" {
		t.Errorf("%v %v", all, err)
	}
}

// TestAMistakeIsRefusedWhereItStands: S0-24, each with its pointer and the way out.
func TestAMistakeIsRefusedWhereItStands(t *testing.T) {
	t.Parallel()
	last := ph("z", "", wk("end", final))
	for _, test := range []struct{ name, text, want string }{
		{"no JSON", "{\n\"p\": }", "line 2: it is not valid JSON: "},
		{"two values", "{} {}", "line 1: it is not valid JSON: "},
		{"nothing", "", "line 1: it is not valid JSON: "},
		{"not UTF-8", "{\n\"\xff\": 1}", "line 2: it is not UTF-8; "},
		{"large", strings.Repeat(" ", jsonx.MaxSize+1), "line 1: it is larger than 1024 KiB; "},
		{"deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "line 1: more than 32 values are nested"},
		{"a list", "[]", "line 1: it is a list, not an object; "},
		{"no pipeline", "{}", "line 1: it has no pipeline; "},
		{"pipeline twice", `{"p": {"phases": [` + last + `]},` + "\n" + `"p": {"phases": [` + last + `]}}`, "/p (line 2): the key occurs twice; keep one of them"},
		{"key twice", workers("", `{"id": "x", "id": "y", "workers": [`+wk("end", final)+`]}`), "/p/phases/0/id (line 1): the key occurs twice"},
		{"case", `{"p": {"phases": [` + last + `]}, "P": {"phases": [` + last + `]}}`, "/P (line 1): the pipeline P differs from p in case only"},
		{"verb", `{"retry": {"phases": [` + last + `]}}`, "/retry (line 1): the pipeline cannot be called retry: the name is reserved"},
		{"odd name", `{"a/b": {"phases": [` + last + `]}}`, `/a~1b (line 1): the pipeline cannot be called "a/b"; use letters`},
		{"dash", `{"-x": {"phases": [` + last + `]}}`, `/-x (line 1): the pipeline cannot be called "-x"`},
		{"pipeline is a list", `{"p": []}`, "/p (line 1): a pipeline must be an object, not a list"},
		{"unknown key", workers(`"spwan": "all",`, last), `/p/spwan (line 1): a pipeline has no key "spwan"; did you mean spawn?`},
		{"unknown key in a worker", workers("", ph("z", "", wk("end", final+`, "zzzzzz": 1`))), `/p/phases/0/workers/0/zzzzzz (line 1): a worker has no key "zzzzzz"; known are role, `},
		{"key in another case", workers("", ph("z", "", wk("end", `, "Final": true`))), `/p/phases/0/workers/0/Final (line 1): a worker has no key "Final"; did you mean final?`},
		{"no phases", `{"p": {}}`, "/p (line 1): a pipeline has no phases; "},
		{"empty phases", workers(""), "/p/phases (line 1): phases is empty; "},
		{"no workers", workers("", ph("z", "")), "/p/phases/0/workers (line 1): workers is empty; "},
		{"phases an object", `{"p": {"phases": {}}}`, "/p/phases (line 1): phases must be a list of objects, not an object"},
		{"a phase a text", `{"p": {"phases": ["x"]}}`, `/p/phases/0 (line 1): a phase must be an object, not "x"`},
		{"no id", workers("", `{"workers": [`+wk("end", final)+`]}`), "/p/phases/0 (line 1): a phase has no id"},
		{"no task", workers("", ph("z", "", `{"role": "end", "final": true}`)), "/p/phases/0/workers/0 (line 1): a worker has no task"},
		{"blank task", workers("", ph("z", "", `{"role": "end", "final": true, "task": " "}`)), "/p/phases/0/workers/0/task (line 1): task is blank"},
		{"null", workers("", ph("z", `, "pause_after": null`, wk("end", final))), "/p/phases/0/pause_after (line 1): pause_after must be true or false, not null"},
		{"NUL", workers("", ph("z", "", `{"role": "end", "final": true, "task": "a\u0000"}`)), "/p/phases/0/workers/0/task (line 1): it contains the character NUL"},
		{"text for a flag", workers(`"watchdog": "yes",`, last), `/p/watchdog (line 1): watchdog must be true or false, not "yes"`},
		{"number for a text", workers(`"description": 3,`, last), "/p/description (line 1): description must be a text, not 3"},
		{"unknown mode", workers("", ph("z", `, "mode": "paralel"`, wk("end", final))), `/p/phases/0/mode (line 1): unknown mode "paralel"; did you mean parallel?`},
		{"unknown spawn", workers(`"spawn": "xxxxxxxx",`, last), `/p/spawn (line 1): unknown spawn "xxxxxxxx"; known are phase, all`},
		{"negative timeout", workers("", ph("z", "", wk("end", final+`, "timeout": -1`))), "/p/phases/0/workers/0/timeout (line 1): timeout must be a whole number, not -1; write one from 1 to 86400"},
		{"no timeout", workers("", ph("z", "", wk("end", final+`, "timeout": 0`))), "/p/phases/0/workers/0/timeout (line 1): timeout must be a whole number, not 0"},
		{"absurd timeout", workers("", ph("z", "", wk("end", final+`, "timeout": 1e9`))), "/p/phases/0/workers/0/timeout (line 1): timeout must be a whole number, not 1e9"},
		{"timeout beyond numbers", workers("", ph("z", "", wk("end", final+`, "timeout": 99999999999999999999`))), "/p/phases/0/workers/0/timeout (line 1): timeout must be a whole number"},
		{"timeout a text", workers("", ph("z", "", wk("end", final+`, "timeout": "60"`))), `/p/phases/0/workers/0/timeout (line 1): timeout must be a whole number, not "60"`},
		{"rounds", workers("", ph("z", `, "max_rounds": 2`, wk("end", final))), "/p/phases/0/max_rounds (line 1): only a dialogue has rounds"},
		{"no rounds", workers("", ph("z", `, "mode": "dialogue", "max_rounds": 0`, wk("a", ""), wk("end", final))), "/p/phases/0/max_rounds (line 1): max_rounds must be a whole number, not 0; write one from -1 to 1000 but 0"},
		{"duplicate id", workers("", ph("z", "", wk("a", "")), ph("Z", "", wk("end", final))), "/p/phases/1/id (line 1): the phase Z has the name of z"},

		{"duplicate role", workers("", ph("a", "", wk("end", "")), last), "/p/phases/1/workers/0/role (line 1): the role end is there already, as end"},
		{"duplicate role but for case", workers("", ph("a", "", wk("End", "")), last), "/p/phases/1/workers/0/role (line 1): the role end is there already, as End"},
		{"duplicate output", workers("", ph("a", "", wk("a", `, "output": "END.md"`)), last), "/p/phases/1/workers/0/output (line 1): end.md is what another one writes, as END.md"},
		{"traversal in a role", workers("", ph("z", "", wk("../x", final))), `/p/phases/0/workers/0/role (line 1): the role cannot be called "../x"`},
		{"folder in a role", workers("", ph("z", "", wk("a/b", final))), `/p/phases/0/workers/0/role (line 1): the role cannot be called "a/b"`},
		{"absolute role", workers("", ph("z", "", wk("/etc/x", final))), `/p/phases/0/workers/0/role (line 1): the role cannot be called "/etc/x"`},
		{"long role", workers("", ph("z", "", wk(strings.Repeat("a", 65), final))), "/p/phases/0/workers/0/role (line 1): the name of the role has 65 characters; use at most 64"},
		{"blank role", workers("", ph("z", "", wk("", final))), "/p/phases/0/workers/0/role (line 1): role is blank"},
		{"reserved role", workers("", ph("z", "", wk("Final", final))), "/p/phases/0/workers/0/role (line 1): the role cannot be called Final: the name is reserved"},
		{"Windows", workers("", ph("z", "", wk("com1", final))), "/p/phases/0/workers/0/role (line 1): the role cannot be called com1: the name is reserved"},
		{"traversal in an output", workers("", ph("z", "", wk("end", final+`, "output": "../x.md"`))), `/p/phases/0/workers/0/output (line 1): "../x.md" is no plain name`},
		{"backslash in an output", workers("", ph("z", "", wk("end", final+`, "output": "a\\x.md"`))), `/p/phases/0/workers/0/output (line 1): "a\\x.md" is no plain name`},
		{"stream of an output", workers("", ph("z", "", wk("end", final+`, "output": "a.md:x"`))), `/p/phases/0/workers/0/output (line 1): "a.md:x" is no plain name`},
		{"hidden output", workers("", ph("z", "", wk("end", final+`, "output": ".x"`))), `/p/phases/0/workers/0/output (line 1): ".x" is no plain name`},
		{"dot at the end", workers("", ph("z", "", wk("end", final+`, "output": "x."`))), `/p/phases/0/workers/0/output (line 1): "x." is no plain name`},
		{"our file", workers("", ph("z", "", wk("end", final+`, "output": "Status.JSON"`))), `/p/phases/0/workers/0/output (line 1): Status.JSON is a reserved name`},
		{"our result", workers("", ph("z", "", wk("end", final+`, "output": "final.md"`))), `/p/phases/0/workers/0/output (line 1): final.md is a reserved name`},
		{"device", workers("", ph("z", "", wk("end", final+`, "output": "nul.txt"`))), `/p/phases/0/workers/0/output (line 1): nul.txt is a reserved name`},
		{"half-written", workers("", ph("z", "", wk("end", final+`, "output": "x.md.tmp"`))), `/p/phases/0/workers/0/output (line 1): x.md.tmp is what a half-written file is called`},
		{"long output", workers("", ph("z", "", wk("end", final+`, "output": "`+strings.Repeat("x", 129)+`"`))), "/p/phases/0/workers/0/output (line 1): the name of the file has 129 characters"},

		{"agent and command", workers("", ph("z", "", wk("end", final+`, "agent": "codex", "run": "make"`))), `/p/phases/0/workers/0/agent (line 1): the worker has a command in "run" already; keep one of agent and run`},
		{"neither agent nor command", workers("", ph("z", "", wk("end", final+`, "run": " "`))), `/p/phases/0/workers/0/run (line 1): run is blank; write a command of the shell`},
		{"a model of a command", workers("", ph("z", "", wk("end", final+`, "model": "opus", "run": "make"`))), `/p/phases/0/workers/0/model (line 1): a command has no model; remove it`},
		{"half of a command", workers("", ph("z", "", wk("end", final+`, "accept_partial": true, "run": "make"`))), `/p/phases/0/workers/0/accept_partial (line 1): the output of a command counts when it ends well, and only then; remove it; ok_exit lists`},
		{"a command speaks", workers("", ph("z", `, "mode": "dialogue"`, wk("a", `, "run": "make"`), wk("end", final))), `/p/phases/0/workers/0/run (line 1): a command takes no turns in a dialogue; make it the worker of a phase of its own`},
		{"a command that asks", workers("", ph("z", "", wk("end", final+`, "asks": true, "run": "make"`))), `/p/phases/0/workers/0/asks (line 1): a command asks nobody; remove it`},
		{"a speaker that asks", workers("", ph("z", `, "mode": "dialogue"`, wk("a", `, "asks": true`), wk("end", final))), `/p/phases/0/workers/0/asks (line 1): who takes turns in a dialogue asks nobody`},
		{"an output called questions.json", workers("", ph("z", "", wk("end", final+`, "output": "questions.json"`))), `/p/phases/0/workers/0/output (line 1): questions.json is a reserved name`},
		{"exit codes of an agent", workers("", ph("z", "", wk("end", final+`, "ok_exit": [1]`))), `/p/phases/0/workers/0/ok_exit (line 1): an agent has no exit codes that count; remove it, or add the command as "run"`},
		{"an exit code twice", workers("", ph("z", "", wk("end", final+`, "run": "make", "ok_exit": [1, 1]`))), `/p/phases/0/workers/0/ok_exit/1 (line 1): 1 is there twice; remove one of them`},
		{"an exit code too great", workers("", ph("z", "", wk("end", final+`, "run": "make", "ok_exit": [256]`))), `/p/phases/0/workers/0/ok_exit/0 (line 1): an exit code must be a whole number, not 256; write one from 1 to 255`},
		{"no list of exit codes", workers("", ph("z", "", wk("end", final+`, "run": "make", "ok_exit": 1`))), `/p/phases/0/workers/0/ok_exit (line 1): ok_exit must be a list of exit codes, not 1; write a list`},
		{"no task of an agent", workers("", ph("z", "", `{"role": "end", "final": true}`)), `/p/phases/0/workers/0 (line 1): a worker has no task; add "task"`},
		{"no final", workers("", ph("z", "", wk("end", ""))), `/p (line 1): it has no final worker; set "final": true`},
		{"two finals", workers("", ph("z", "", wk("end", final), wk("e2", final))), "/p/phases/0/workers/1/final (line 1): there is a second final worker, after /p/phases/0/workers/0/final"},
		{"early final", workers("", ph("a", "", wk("a", final)), ph("z", "", wk("end", ""))), "/p/phases/0/workers/0/final (line 1): the final worker is not in the last phase"},

		{"reads later", workers("", ph("a", "", wk("a", reads("end.md"))), last), "/p/phases/0/workers/0/reads/0 (line 1): end.md is written at the same time or later"},
		{"reads later, all", workers(`"spawn": "all",`, ph("a", "", wk("a", reads("end.md"))), last), "/p/phases/0/workers/0/reads/0 (line 1): end.md is written at the same time or later"},
		{"reads beside it", workers("", ph("z", "", wk("a", ""), wk("end", final+reads("a.md")))), "/p/phases/0/workers/1/reads/0 (line 1): a.md is written at the same time"},
		{"reads the next", workers("", ph("z", `, "mode": "sequential"`, wk("a", reads("end.md")), wk("end", final))), "/p/phases/0/workers/0/reads/0 (line 1): end.md is written at the same time or later"},
		{"reads nobody's", workers("", ph("a", "", wk("alpha", "")), ph("z", "", wk("end", final+reads("alpa.md")))), "/p/phases/1/workers/0/reads/0 (line 1): alpa.md is written by nobody; did you mean alpha.md?"},
		{"reads a role", workers("", ph("a", "", wk("alpha", "")), ph("z", "", wk("end", final+reads("alpha")))), "/p/phases/1/workers/0/reads/0 (line 1): alpha is written by nobody; did you mean alpha.md?"},
		{"reads the first", workers("", ph("z", "", wk("end", final+reads("x.md")))), "/p/phases/0/workers/0/reads/0 (line 1): x.md is written by nobody; remove it"},
		{"reads itself", workers("", ph("z", "", wk("end", final+reads("end.md")))), "/p/phases/0/workers/0/reads/0 (line 1): end.md is what the worker itself writes"},
		{"reads twice", workers("", ph("a", "", wk("a", "")), ph("z", "", wk("end", final+reads("a.md", "a.md")))), "/p/phases/1/workers/0/reads/1 (line 1): a.md is read twice"},
		{"traversal in reads", workers("", ph("z", "", wk("end", final+reads("../x")))), `/p/phases/0/workers/0/reads/0 (line 1): "../x" is no plain name`},
		{"absolute reads", workers("", ph("z", "", wk("end", final+reads("/etc/x")))), `/p/phases/0/workers/0/reads/0 (line 1): "/etc/x" is no plain name`},
		{"reads a number", workers("", ph("z", "", wk("end", final+`, "reads": [1]`))), "/p/phases/0/workers/0/reads/0 (line 1): a file name must be a text, not 1"},
		{"reads a text", workers("", ph("z", "", wk("end", final+`, "reads": "a.md"`))), `/p/phases/0/workers/0/reads (line 1): reads must be a list of file names, not "a.md"`},

		{"a monologue", workers("", ph("z", `, "mode": "dialogue"`, wk("end", final))), "/p/phases/0/workers (line 1): a dialogue of one is none"},
		{"a dialogue of all", workers(`"spawn": "all",`, ph("z", `, "mode": "dialogue"`, wk("a", ""), wk("end", final))), "/p/phases/0/mode (line 1): a dialogue needs somebody between its turns"},
		{"two dialogues", workers("", ph("a", `, "mode": "dialogue"`, wk("a", ""), wk("b", "")), ph("z", `, "mode": "dialogue"`, wk("c", ""), wk("end", final))), "/p/phases/1/mode (line 1): it is the second dialogue"},
		{"a file in a dialogue", workers("", ph("z", `, "mode": "dialogue"`, wk("a", `, "output": "x.md"`), wk("end", final))), "/p/phases/0/workers/0/output (line 1): who takes turns in a dialogue writes no file"},
		{"transcript and output", workers("", ph("end", `, "mode": "dialogue"`, wk("a", ""), wk("b", "")), last), "/p/phases/1/workers/0/output (line 1): end.md is what another one writes"},
		{"a dialogue that delivers", workers(`"deliver_by": "terminal",`, ph("z", `, "mode": "dialogue"`, wk("a", ""), wk("end", final))), "/p/deliver_by (line 1): end has turns in a dialogue, and is gone before"},
		{"our list", workers("", ph("z", "", wk("end", final+`, "output": "intent.json"`))), `/p/phases/0/workers/0/output (line 1): intent.json is a reserved name`},
		{"our temporary", workers("", ph("z", "", wk("end", final+`, "output": "x.md.new"`))), `/p/phases/0/workers/0/output (line 1): x.md.new is what a half-written file is called`},
		{"pause of all", workers(`"spawn": "all",`, ph("a", `, "pause_after": true`, wk("a", "")), last), "/p/phases/0/pause_after (line 1): with \"spawn\": \"all\""},
		{"pause after delivery", workers(`"deliver_by": "terminal",`, ph("z", `, "pause_after": true`, wk("end", final))), "/p/phases/0/pause_after (line 1): the final worker delivers before the pause"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.text))
			if err == nil {
				t.Fatal("accepted")
			}
			faults := err.(jsonx.Faults)
			if !strings.HasPrefix(faults[0].String(), test.want) || len(faults) > 1 {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if faults[0].Remedy == "" {
				t.Error("no way out")
			}
		})
	}
}

func TestAllMistakesAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte("{\"p\": {\"zz\": 1,\n\"phases\": [\n" + ph("../x", "", wk("con", `, "timeout": -3`), wk("a", reads("b.md"))) + "]},\n\"q\": 3}"))
	var got []string
	for _, f := range err.(jsonx.Faults) {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Pointer))
	}
	want := []string{"1 /p", "1 /p/zz", "3 /p/phases/0/id", "3 /p/phases/0/workers/0/role", "3 /p/phases/0/workers/0/timeout",
		"3 /p/phases/0/workers/1/reads/0", "4 /q"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s", cmp.Diff(want, got))
	}
	many, _ := json.Marshal(map[string]any{"p": map[string]any{"phases": make([]int, 50)}})
	if _, err := Parse(many); !strings.HasSuffix(err.Error(), "\nand 30 more") {
		t.Errorf("got %v", err)
	}
}

// FuzzParse: no text makes it panic, and what it takes is taken again.
func FuzzParse(f *testing.F) {
	f.Add(read(f, "../../pipeline/testdata/workflows.json"))
	f.Add([]byte(`{"p": {"phases": [` + ph("z", `, "mode": "dialogue", "max_rounds": -1`, wk("a", ""), wk("end", final)) + `]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse(data)
		if err != nil {
			if faults, ok := err.(jsonx.Faults); !ok || len(faults) == 0 || err.Error() == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, w := range all {
			text, err := w.Encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(text)
			if err != nil || !cmp.Equal(again[0], w) {
				t.Fatalf("%s: %v\n%s", data, err, text)
			}
		}
	})
}
