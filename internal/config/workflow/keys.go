package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// A kind is the type of a key's value.
type kind string

const (
	textual kind = "text"
	number  kind = "whole number"
	yesno   kind = "true or false"
	names   kind = "list of file names"
	codes   kind = "list of exit codes"
	objects kind = "list of objects"
)

// A key is one key of workflows.json. The reader checks files against the table of keys, and the
// documentation and the schema are generated from it.
type key struct {
	name        string
	kind        kind
	need        bool
	unless      string // another key, with which it is not needed
	filled      bool   // it may be left out, but not blank
	least, most int64  // of a number, or of each code
	nonzero     bool
	words       []string // all that a text may be; nil when it is free
	of          []key    // of a list of objects
	usual       string   // what it is when it is left out
	means       string
}

// day is the longest time of a worker, in seconds.
const day = 86400

var pipelineKeys = []key{
	{name: "description", kind: textual, means: "what the pipeline is for, shown by `ferrus pipeline list`"},
	{name: "spawn", kind: textual, words: []string{string(SpawnPhase), string(SpawnAll)}, usual: "`phase`",
		means: "`phase` starts the workers of a phase when the phase before is done; `all` starts every worker at once, and who has inputs waits for the files"},
	{name: "deliver_by", kind: textual, words: []string{byOrchestrator, byTerminal}, usual: "`orchestrator`; with `spawn` `all` `terminal`",
		means: "who sends the result: ferrus, or the `final` worker by its tool `deliver`"},
	{name: "sent_marker", kind: textual, usual: "`MATRIX_SENT`", means: "what the last output of a `final` worker contains that has sent the result on a way of its own"},
	{name: "watchdog", kind: yesno, usual: "`false`; with `spawn` `all` `true`",
		means: "when nobody is left and the result is not delivered: deliver what there is, marked PARTIAL"},
	{name: "max_parallel", kind: number, least: 1, most: 64, usual: "4", means: "how many agents may run at a time; who waits for inputs does not count"},
	{name: "notify", kind: yesno, usual: "`true`", means: "tell a person by `[notify]` of pauses, failures and the result"},
	{name: "phases", kind: objects, need: true, of: phaseKeys, means: "the phases, in their order; the last one has the `final` worker"},
}

var phaseKeys = []key{
	{name: "id", kind: textual, need: true, means: "its name, once in the pipeline"},
	{name: "mode", kind: textual, words: []string{string(Parallel), string(Sequential), string(Talking)}, usual: "`parallel`",
		means: "`parallel` has all workers at once, `sequential` one after the other in the order of the list, `dialogue` has them take turns on `dialogue.json`"},
	{name: "pause_after", kind: yesno, usual: "`false`", means: "when the phase is done, wait for a person's `ferrus pipeline resume`"},
	{name: "max_rounds", kind: number, least: -1, most: 1000, nonzero: true, usual: "5", means: "of a dialogue: how often each worker has its turn; -1 is until there is consensus"},
	{name: "workers", kind: objects, need: true, of: workerKeys, means: "who works in it"},
}

var workerKeys = []key{
	{name: "role", kind: textual, need: true, means: "its name, once in the whole pipeline; its output is named after it"},
	{name: "agent", kind: textual, usual: "`[hq.executor]`", means: "the agent to start, one of [agents](agents.md)"},
	{name: "model", kind: textual, usual: "the agent's own", means: "the value of the agent's option for the model"},
	{name: "run", kind: textual, filled: true, usual: "an agent works",
		means: "a command of the shell to run instead of an agent; it writes its output to the file `$FERRUS_OUTPUT`"},
	{name: "ok_exit", kind: codes, least: 1, most: 255, usual: "none", means: "exit codes of `run`, besides 0, with which its output counts"},
	{name: "timeout", kind: number, least: 1, most: day, usual: "180; 360 with inputs",
		means: "seconds to work, from when its inputs are there; 120 more are let pass before it is ended"},
	{name: "wait", kind: number, least: 1, most: day, usual: "300",
		means: "with `spawn` `all`: seconds to wait for inputs; longer while those who write them are at work"},
	{name: "final", kind: yesno, usual: "`false`", means: "its output is the result; one worker of the last phase has it"},
	{name: "reads", kind: names, usual: "none", means: "the outputs of others that it reads, as `researcher-a.md`; they must have come before it"},
	{name: "output", kind: textual, usual: "`<role>.md`", means: "the name of the file that it writes"},
	{name: "min_bytes", kind: number, least: 1, most: 1 << 30, usual: "1", means: "a smaller output is none"},
	{name: "retries", kind: number, least: 0, most: 10, usual: "0", means: "how often it is started anew when it ended without its output"},
	{name: "accept_partial", kind: yesno, usual: "`false`", means: "take its output even if it did not end well"},
	{name: "asks", kind: yesno, usual: "`false`", means: "it may ask a person by the tool `ask_human`; its time stands still until the answer"},
	{name: "task", kind: textual, need: true, unless: "run", means: "what it shall do; a command needs none"},
}

// checkWorkflow notes what of an object the table of keys does not allow.
func checkWorkflow(t *jsonx.Text, n jsonx.Node, at, what string, keys []key) {
	if !n.Is('{') {
		t.AddFault(at, fmt.Sprintf("%s must be an object, not %s", what, n.Kind()), "write {…} with the keys "+known(keys))
		return
	}
	for i, name := range n.Keys {
		k := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if k < 0 {
			t.AddFault(at+"/"+jsonx.Escape(name), fmt.Sprintf("%s has no key %q", what, name), meant(name, named(keys)))
			continue
		}
		checkKey(t, n.Items[i], at+"/"+jsonx.Escape(name), keys[k])
	}
	for _, k := range keys {
		if k.need && !slices.Contains(n.Keys, k.name) && !slices.Contains(n.Keys, k.unless) {
			t.AddFault(at, fmt.Sprintf("%s has no %s", what, k.name), fmt.Sprintf("add %q: %s", k.name, k.means))
		}
	}
}

// checkKey checks the value of a key.
func checkKey(t *jsonx.Text, n jsonx.Node, at string, k key) {
	wrong := func(remedy string) {
		t.AddFault(at, fmt.Sprintf("%s must be a %s, not %s", k.name, k.kind, n.Kind()), remedy)
	}
	switch k.kind {
	case textual:
		s, ok := n.Token.(string)
		switch {
		case !ok:
			wrong("put it in quotes")
		case (k.need || k.filled) && strings.TrimSpace(s) == "":
			t.AddFault(at, k.name+" is blank", "write "+k.means)
		case k.words != nil && !slices.Contains(k.words, s):
			t.AddFault(at, fmt.Sprintf("unknown %s %q", k.name, s), meant(s, k.words))
		}
	case yesno:
		if _, ok := n.Token.(bool); !ok {
			t.AddFault(at, fmt.Sprintf("%s must be true or false, not %s", k.name, n.Kind()), "write true or false without quotes")
		}
	case number:
		lit, _ := n.Token.(json.Number)
		v, err := strconv.ParseInt(lit.String(), 10, 64)
		if err != nil || v < k.least || v > k.most || v == 0 && k.nonzero {
			wrong(fmt.Sprintf("write one %s, or leave it out for %s", k.span(), k.usual))
		}
	case names, codes, objects:
		if !n.Is('[') {
			wrong("write a list, […]")
			return
		}
		if k.need && len(n.Items) == 0 {
			t.AddFault(at, k.name+" is empty", "add one at least, with the keys "+known(k.of))
		}
		for i, item := range n.Items {
			at := at + "/" + strconv.Itoa(i)
			if _, ok := item.Token.(string); k.kind == names && !ok {
				t.AddFault(at, "a file name must be a text, not "+item.Kind(), "put it in quotes")
			}
			if k.kind == codes {
				checkKey(t, item, at, key{name: "an exit code", kind: number, least: k.least, most: k.most, usual: "0 alone"})
			}
			if k.kind == objects {
				checkWorkflow(t, item, at, "a "+strings.TrimSuffix(k.name, "s"), k.of)
			}
		}
	}
}

// span describes the allowed numbers.
func (k key) span() string {
	if k.nonzero {
		return fmt.Sprintf("from %d to %d but 0", k.least, k.most)
	}
	return fmt.Sprintf("from %d to %d", k.least, k.most)
}

func named(keys []key) []string {
	var all []string
	for _, k := range keys {
		all = append(all, k.name)
	}
	return all
}

func known(keys []key) string { return strings.Join(named(keys), ", ") }

// meant returns the remedy for a word that is not one of words.
func meant(word string, words []string) string {
	if near := format.Word(word, words); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "known are " + strings.Join(words, ", ")
}
