//go:build unix

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// The original workflows.json, and its status.json at its steps.
const originals = "../../../internal/pipeline/testdata/"

// outputIs stands in a worker's prompt before the path of the file that it writes.
const outputIs = "Write your result to this file, and to no other: "

// A staff plays the workers of a pipeline: each writes one line when it is let go.
type staff struct {
	own  bool // by the client's own tools, not by ours
	let  map[string]chan struct{}
	over <-chan struct{} // the test has ended
}

func newStaff(t *testing.T, roles ...string) *staff {
	s := &staff{let: map[string]chan struct{}{}, over: t.Context().Done()}
	for _, role := range roles {
		s.let[role] = make(chan struct{})
	}
	return s
}

// policy is what the model of any of them says.
func (s *staff) policy(r model.Request) model.Reply {
	_, rest, ok := strings.Cut(r.Prompt, outputIs)
	if !ok {
		return model.Say("There is nothing for me to write.")
	}
	path, _, _ := strings.Cut(rest, "\n")
	role := strings.TrimSuffix(filepath.Base(path), ".md")
	inputs := inputsOf(r.Prompt)
	text := role + " has read " + strings.Join(names(inputs), ", ") + "\n"
	switch n := len(r.Calls()); {
	case n < len(inputs):
		return model.Reply{Calls: r.ReadFile(inputs[n])}
	case n > len(inputs):
		return model.Say("It is written.")
	}
	select {
	case <-s.let[role]:
	case <-s.over: // the model ends only when all its answers are given
	}
	if s.own {
		return model.Reply{Calls: r.WriteFile(path, text)}
	}
	return model.Use("ferrus/write_output", map[string]any{"content": text})
}

// inputsOf are the files that a prompt says to read.
func inputsOf(prompt string) []string {
	var paths []string
	for line := range strings.Lines(prompt) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func names(paths []string) []string {
	list := []string{}
	for _, p := range paths {
		list = append(list, filepath.Base(p))
	}
	return list
}

// TestTheOriginalPipelineWithRealAgents: its workflows.json byte for byte, and its status.json at each of its steps; the
// workers write by our tool, and then by those of their client. S0-01 to S0-13.
func TestTheOriginalPipelineWithRealAgents(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{claude, codex} {
		for _, own := range []bool{false, true} {
			t.Run(agent+map[bool]string{false: " by our tool", true: " by its own"}[own], func(t *testing.T) {
				s := newStaff(t, "researcher-a", "researcher-b", "synthesizer")
				s.own = own
				r := newRig(t, claude, agent, s.policy)
				workflows, err := os.ReadFile(originals + "workflows.json")
				if err != nil {
					t.Fatal(err)
				}
				r.write("workflows.json", string(workflows))
				r.agree()
				c := r.conduct("pipeline", "research", "FSA", "architecture")
				for _, step := range []struct{ status, next string }{{"1", "researcher-a"}, {"4", "researcher-b"}, {"6", "synthesizer"}} {
					r.stands(c, step.status)
					close(s.let[step.next])
				}
				<-c.done
				if c.code != 0 || !strings.Contains(c.out.String(), "synthesizer has read researcher-a.md, researcher-b.md\n") {
					t.Errorf("exit code %d\n%s", c.code, &c.out)
				}
				finals, _ := filepath.Glob(r.path(".ferrus/memory/pipelines/research-*/final.md"))
				if len(finals) != 1 || r.text(finals[0]) != "synthesizer has read researcher-a.md, researcher-b.md\n" {
					t.Errorf("archived %v", finals)
				}
				if left, _ := filepath.Glob(r.path(".ferrus/pipeline-tmp/*")); len(left) > 0 || r.text("workflows.json") != string(workflows) {
					t.Errorf("left %v", left)
				}
				r.quietly()
			})
		}
	}
}

// quietly: no process is left.
func (r *rig) quietly() {
	r.t.Helper()
	if left := r.left(); len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
}

// stands waits until the run's status.json says what the original's says at that step.
func (r *rig) stands(c *conductor, step string) {
	r.t.Helper()
	text, err := os.ReadFile(originals + "status" + step + ".json")
	if err != nil {
		r.t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(text, &want); err != nil {
		r.t.Fatal(err)
	}
	kit.Eventually(r.t, "the status of step "+step, func() bool {
		select {
		case <-c.done:
			r.t.Fatalf("it ended with %d before step %s\n%s", c.code, step, &c.out)
		default:
		}
		files, _ := filepath.Glob(r.path(".ferrus/pipeline-tmp/*/status.json"))
		return len(files) == 1 && json.Unmarshal([]byte(r.text(files[0])), &got) == nil && covers(want, got, "")
	})
}

// covers reports whether all that is wanted stands there too. Names of folders and sessions are the run's own.
func covers(want, got any, key string) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, v := range w {
			ok = ok && covers(v, g[k], k)
		}
		return ok
	case []any:
		g, ok := got.([]any)
		ok = ok && len(g) == len(w)
		for i := 0; ok && i < len(w); i++ {
			ok = covers(w[i], g[i], "")
		}
		return ok
	}
	if key == "dir" || key == "session" {
		g, ok := got.(string)
		return ok && (g == "") == (want == "")
	}
	return want == got
}
