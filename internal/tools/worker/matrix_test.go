//go:build unix

package worker

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// kinds are the workers of the matrix: one with each list of tools, and one whose turn it is not.
var kinds = map[string]struct{ workflow, role string }{
	"terminal": {report, "writer"},
	"other":    {report, "reader"},
	"asker":    {inquiry, "asker"},
	"talker":   {debate, "ann"},
	"silent":   {debate, "bob"},
}

// standings are what may have become of the first attempt.
var standings = []struct {
	name string
	make func(s *stage, role string)
}{
	{"counts", func(*stage, string) {}},
	{"replaced", func(s *stage, role string) { s.attempt(role, 2) }},
	{"failed", func(s *stage, role string) {
		s.stands(func(st *pipeline.Status) {
			st.Worker(role).Status, st.Worker(role).Reason = pipeline.Failed, pipeline.TimedOut
		})
	}},
	{"cancelled", func(s *stage, _ string) { s.stands(func(st *pipeline.Status) { st.State = pipeline.IsCancelled }) }},
	{"delivered", func(s *stage, _ string) {
		if !s.f.Workflow.ByTerminal() {
			s.stands(func(st *pipeline.Status) { st.ResultDelivered = true })
			return
		}
		s.put("writer.md", "the result")
		d, err := s.f.WorkerSession("writer", 1)
		must(s.t, err)
		_, err = d.Deliver(s.t.Context(), run.Options{})
		must(s.t, err)
	}},
	{"archived", func(s *stage, _ string) {
		must(s.t, s.f.Ask(run.Intent{ID: "i", Verb: pipeline.Cancel, By: "a person"}, time.Now()))
		if a, err := s.f.Tick(s.t.Context(), run.Options{Log: quiet}); err != nil || a.Do != pipeline.Archive {
			s.t.Fatalf("it is not archived: %s, %v", a, err)
		}
	}},
}

// matrix is what each call answers, with what is next: in each row the standings, in their order.
const matrix = `
terminal get_assignment   ok write_output    | lost | lost | lost | lost | gone
terminal wait_for_inputs  ready write_output | lost | lost | lost | lost | gone
terminal write_output     written deliver    | lost | lost | lost | lost | gone
terminal heartbeat        ok write_output    | lost | lost | lost | lost | gone
terminal deliver          delivered stop     | lost | lost | lost | already_sent stop | gone
other    get_assignment   ok write_output    | lost | lost | lost | lost | gone
other    wait_for_inputs  ready write_output | lost | lost | lost | lost | gone
other    write_output     written stop       | lost | lost | lost | lost | gone
other    heartbeat        ok write_output    | lost | lost | lost | lost | gone
other    deliver          forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
asker    get_assignment   ok write_output    | lost | lost | lost | lost | gone
asker    wait_for_inputs  ready write_output | lost | lost | lost | lost | gone
asker    write_output     written stop       | lost | lost | lost | lost | gone
asker    heartbeat        ok write_output    | lost | lost | lost | lost | gone
asker    deliver          forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
asker    ask_human        ok wait_for_answer | lost | lost | lost | lost | gone
asker    wait_for_answer  idle write_output  | lost | lost | lost | lost | gone
terminal ask_human        forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
terminal wait_for_answer  forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
other    ask_human        forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
other    wait_for_answer  forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
talker   ask_human        forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
talker   wait_for_answer  forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
silent   ask_human        forbidden_role stop | forbidden | forbidden | forbidden | forbidden | forbidden
silent   wait_for_answer  forbidden_role stop | forbidden | forbidden | forbidden | forbidden | forbidden
talker   get_assignment   ok write_output    | lost | lost | lost | lost | gone
talker   wait_for_inputs  ready write_output | lost | lost | lost | lost | gone
talker   write_output     written stop       | lost | lost | lost | lost | gone
talker   heartbeat        ok write_output    | lost | lost | lost | lost | gone
talker   deliver          forbidden_role write_output | forbidden | forbidden | forbidden | forbidden | forbidden
silent   get_assignment   ok stop            | lost | lost | lost | lost | gone
silent   wait_for_inputs  ready stop         | lost | lost | lost | lost | gone
silent   write_output     wrong_state stop   | lost | lost | lost | lost | gone
silent   heartbeat        ok stop            | lost | lost | lost | lost | gone
silent   deliver          forbidden_role stop | forbidden | forbidden | forbidden | forbidden | forbidden
`

// cells is the matrix by kind, standing and tool.
func cells() map[string]string {
	want := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(matrix)) {
		words := strings.Fields(line)
		columns := strings.Split(line[strings.Index(line, words[1])+len(words[1]):], "|")
		for i, st := range standings {
			cell := strings.Join(strings.Fields(columns[i]), " ")
			switch cell {
			case "lost":
				cell = "lease_lost stop"
			case "gone":
				cell = "store_gone stop"
			case "forbidden":
				cell = "forbidden_role stop"
			}
			want[fmt.Sprintf("%s %s %s", words[0], st.name, words[1])] = cell
		}
	}
	return want
}

// TestEveryToolAnswersEveryWorkerAsTheMatrixSays, in each standing of its attempt; and allowed names, before the call,
// the tools that are let through and no other, but for heartbeat, which a worker always may try, and a delivery that has
// been made.
func TestEveryToolAnswersEveryWorkerAsTheMatrixSays(t *testing.T) {
	want := cells()
	for kind, k := range kinds {
		for _, st := range standings {
			for _, tool := range Catalogue() {
				cell := fmt.Sprintf("%s %s %s", kind, st.name, tool.Name)
				answer := want[cell]
				delete(want, cell)
				t.Run(cell, func(t *testing.T) {
					t.Parallel()
					if got := play(t, k.workflow, k.role, st.make, tool.Name); got != answer {
						t.Errorf("it answers %q, and the matrix says %q", got, answer)
					}
				})
			}
		}
	}
	for cell := range want {
		t.Errorf("%s is in the matrix, and there is no such cell", cell)
	}
}

// play has a worker call a tool in a standing, and returns what the answer comes to.
func play(t *testing.T, workflow, role string, standing func(*stage, string), tool string) string {
	s := newStage(t, workflow, config.Deliver{})
	if workflow == debate {
		s.offer()
	} else if role == "writer" {
		s.put("reader.md", "what was read")
	}
	if tool == "deliver" && role == "writer" {
		s.put("writer.md", "the result")
	}
	c := s.enter(role) // while it still counts, as it is in life
	standing(s, role)
	before, args := c.call("heartbeat", ""), ""
	if tool == "write_output" {
		args = `{"content": "the output"}`
	}
	if tool == "ask_human" {
		args = `{"question": "Which?"}`
	}
	r := c.call(tool, args)
	if open := slices.Contains(before.Allowed, tool); open != (r.Code == "") && r.Status != "already_sent" {
		t.Errorf("%s is allowed: %v, and answers %s %s", tool, open, r.Code, r.Status)
	}
	if r.Code != "" && (r.Remedy == "" || strings.HasPrefix(r.Remedy, "next:")) {
		t.Errorf("%s is refused with %s and told no way on: %q", tool, r.Code, r.Remedy)
	}
	if (r.Next == "stop") != (len(r.Allowed) == 0) && r.Left == nil {
		t.Errorf("who counts no more is allowed %v", r.Allowed)
	}
	if r.Code == LeaseLost && workflow == report {
		if text := s.text(s.f.Path("reader.md")) + s.text(s.f.Path("writer.md")); strings.Contains(text, "the output") {
			t.Error("it was refused, and has written all the same")
		}
	}
	if _, err := os.Lstat(s.root + "/result.md"); (err == nil) != strings.Contains(r.Status, "delivered") && !strings.Contains(t.Name(), "delivered") {
		t.Errorf("it answers %s, and the result is there: %v", r.Status, err == nil)
	}
	head := string(r.Code)
	if head == "" {
		head = r.Status
	}
	if head == "" {
		head = "ok"
	}
	return head + " " + r.Next
}
