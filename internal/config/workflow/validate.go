package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
)

// checkRules notes what is wrong with a pipeline although each of its values may be what it is.
func checkRules(t *jsonx.Text, w Workflow, at string) {
	checkName(t, at, "the pipeline", w.Name, MaxName, verbs)
	dialogues := 0
	var ids []string
	for i, p := range w.Phases {
		here := fmt.Sprintf("%s/phases/%d", at, i)
		ids = append(ids, p.ID)
		if p.ID != "" {
			checkName(t, here+"/id", "the phase", p.ID, MaxName, nil)
		}
		checkPauses(t, w, i, here)
		if p.How() != Talking {
			if p.MaxRounds != 0 {
				t.AddFault(here+"/max_rounds", "only a dialogue has rounds", `remove it, or set "mode": "dialogue"`)
			}
			continue
		}
		if dialogues++; dialogues > 1 {
			t.AddFault(here+"/mode", "it is the second dialogue, and a run has one dialogue.json", "make two pipelines")
		}
		checkDialogue(t, w, p, here)
	}
	sameButCase(ids, func(i int, id, other string) {
		t.AddFault(fmt.Sprintf("%s/phases/%d/id", at, i), fmt.Sprintf("the phase %s has the name of %s", id, other), "rename one of them")
	})
	checkWorkers(t, w, at)
	checkFinals(t, w, at)
	checkReads(t, w, at)
}

// checkPauses refuses a pause that would hold nobody up.
func checkPauses(t *jsonx.Text, w Workflow, i int, here string) {
	p, last := w.Phases[i], i == len(w.Phases)-1
	if !p.PauseAfter {
		return
	}
	switch {
	case w.All() && !last:
		t.AddFault(here+"/pause_after", `with "spawn": "all" the workers behind the pause are at work already`, `use "spawn": "phase"`)
	case last && w.ByTerminal():
		t.AddFault(here+"/pause_after", "the final worker delivers before the pause", `set "deliver_by": "orchestrator"`)
	}
}

func checkDialogue(t *jsonx.Text, w Workflow, p Phase, here string) {
	if w.All() {
		t.AddFault(here+"/mode", `a dialogue needs somebody between its turns, and with "spawn": "all" there is nobody`, `use "spawn": "phase"`)
	}
	if len(p.Workers) == 1 {
		t.AddFault(here+"/workers", "a dialogue of one is none", "add a second worker")
	}
	for j, k := range p.Workers {
		if k.Asks {
			t.AddFault(fmt.Sprintf("%s/workers/%d/asks", here, j), "who takes turns in a dialogue asks nobody: it reads and edits one file",
				"remove it; a worker of a phase before the dialogue may ask")
		}
		for key, set := range map[string]bool{"output": k.Output != "", "min_bytes": k.MinBytes != 0, "retries": k.Retries != 0,
			"accept_partial": k.AcceptPartial} {
			if set {
				t.AddFault(fmt.Sprintf("%s/workers/%d/%s", here, j, key), "who takes turns in a dialogue writes no file of its own",
					fmt.Sprintf("remove it; the dialogue leaves %s", p.Transcript()))
			}
		}
	}
}

// checkWorkers refuses names that cannot be file names, and two workers that would write one file: in a folder that minds no
// case they would do so too.
func checkWorkers(t *jsonx.Text, w Workflow, at string) {
	var roles, places, files, sources []string
	for i, p := range w.Phases {
		for j, k := range p.Workers {
			here := fmt.Sprintf("%s/phases/%d/workers/%d", at, i, j)
			roles, places = append(roles, k.Role), append(places, here)
			if k.Role != "" {
				checkName(t, here+"/role", "the role", k.Role, MaxName, nil)
			}
			checkCommand(t, p, k, here)
			if k.Output != "" {
				checkFile(t, here+"/output", k.Output)
			}
			if p.How() != Talking {
				files, sources = append(files, k.File()), append(sources, here)
			}
		}
		if p.How() == Talking {
			files, sources = append(files, p.Transcript()), append(sources, fmt.Sprintf("%s/phases/%d", at, i))
		}
	}
	same := map[string]bool{}
	sameButCase(roles, func(i int, role, other string) {
		same[places[i]] = true
		t.AddFault(places[i]+"/role", fmt.Sprintf("the role %s is there already, as %s", role, other), "rename one of them: both would write one file")
	})
	sameButCase(files, func(i int, file, other string) {
		if same[sources[i]] {
			return
		}
		where := sources[i] + "/output"
		if !strings.Contains(sources[i], "/workers/") {
			where = sources[i] + "/id"
		}
		t.AddFault(where, fmt.Sprintf("%s is what another one writes, as %s", file, other), "give each worker a file of its own")
	})
}

// checkCommand refuses what only an agent can have of a command, and what only a command can have of an agent.
func checkCommand(t *jsonx.Text, p Phase, k Worker, here string) {
	if k.Run == "" {
		if k.OKExit != nil {
			t.AddFault(here+"/ok_exit", "an agent has no exit codes that count", "remove it, or add the command as \"run\"")
		}
		return
	}
	for _, no := range []struct {
		set                  bool
		key, problem, remedy string
	}{
		{k.Agent != "", "agent", "the worker has a command in \"run\" already", "keep one of agent and run"},
		{k.Asks, "asks", "a command asks nobody", "remove it, or name an agent instead of run"},
		{k.Model != "", "model", "a command has no model", "remove it, or name an agent instead of run"},
		{k.AcceptPartial, "accept_partial", "the output of a command counts when it ends well, and only then", "remove it; ok_exit lists exit codes, besides 0, that are well"},
		{p.How() == Talking, "run", "a command takes no turns in a dialogue", "make it the worker of a phase of its own"},
	} {
		if no.set {
			t.AddFault(here+"/"+no.key, no.problem, no.remedy)
		}
	}
	for i, code := range k.OKExit {
		if slices.Contains(k.OKExit[:i], code) {
			t.AddFault(fmt.Sprintf("%s/ok_exit/%d", here, i), fmt.Sprintf("%d is there twice", code), "remove one of them")
		}
	}
}

func checkFinals(t *jsonx.Text, w Workflow, at string) {
	var first string
	for i, p := range w.Phases {
		for j, k := range p.Workers {
			here := fmt.Sprintf("%s/phases/%d/workers/%d/final", at, i, j)
			switch {
			case !k.Final:
			case i != len(w.Phases)-1:
				t.AddFault(here, "the final worker is not in the last phase", "move it, or make another one final")
				first = here
			case first != "":
				t.AddFault(here, "there is a second final worker, after "+first, "keep one: a pipeline has one result")
			case p.How() == Talking && w.ByTerminal() && !w.All(): // with all, the dialogue itself is refused
				t.AddFault(at+"/deliver_by", k.Role+" has turns in a dialogue, and is gone before the result is there", `set "deliver_by": "orchestrator"`)
				first = here
			default:
				first = here
			}
		}
	}
	if n := len(w.Phases); first == "" && n > 0 && len(w.Phases[n-1].Workers) > 0 {
		t.AddFault(at, "it has no final worker", `set "final": true for the worker of the last phase whose output is the result`)
	}
}

// checkReads refuses inputs that nobody has written when the worker starts. What came before is the same whether all are
// started at once or phase by phase, so nobody can wait in a circle.
func checkReads(t *jsonx.Text, w Workflow, at string) {
	var before, all []string
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			all = append(all, p.Output(k))
		}
	}
	for i, p := range w.Phases {
		var here []string
		for j, k := range p.Workers {
			have := before
			if p.How() == Sequential {
				have = slices.Concat(before, here)
			}
			for n, file := range k.Reads {
				where := fmt.Sprintf("%s/phases/%d/workers/%d/reads/%s", at, i, j, strconv.Itoa(n))
				switch {
				case slices.Contains(k.Reads[:n], file):
					t.AddFault(where, file+" is read twice", "remove one of them")
				case slices.Contains(have, file):
				case !checkFile(t, where, file):
				case file == p.Output(k):
					t.AddFault(where, file+" is what the worker itself writes", "remove it")
				case slices.Contains(all, file):
					t.AddFault(where, file+" is written at the same time or later", "let its writer come in a phase before, or before it in a sequential one")
				default:
					t.AddFault(where, file+" is written by nobody", meantFile(file, have))
				}
			}
			here = append(here, p.Output(k))
		}
		before = append(before, here...)
	}
}

func meantFile(file string, have []string) string {
	if len(have) == 0 {
		return "remove it: nobody comes before"
	}
	return meant(file, slices.Compact(have))
}
