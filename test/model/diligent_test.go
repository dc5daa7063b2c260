package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The tools of a client in a role, natives first.
func offering(native, role string) []Tool {
	var tools []Tool
	for _, name := range strings.Fields(native) {
		tools = append(tools, Tool{Name: name})
	}
	for _, name := range strings.Fields(map[string]string{
		"executor":   "wait_for_task check submit consult wait_for_consult ask_human",
		"supervisor": "status create_task wait_for_review review_pending approve reject respond_consult",
	}[role]) {
		tools = append(tools, Tool{Server: "ferrus", Name: name})
	}
	return tools
}

// play lets a policy talk to tools that answer from a list, and returns what it called.
func play(t *testing.T, policy Policy, tools []Tool, results ...string) (called []string, last Reply) {
	t.Helper()
	r := Request{Tools: tools, Prompt: "Go."}
	for {
		last = policy(r)
		r.Replies++
		r.Messages = append(r.Messages, Message{Role: "assistant", Calls: last.Calls})
		if len(last.Calls) == 0 {
			break
		}
		for i := range last.Calls {
			c := &last.Calls[i]
			if !r.Offers(c.Tool) {
				t.Fatalf("%s is not offered", c.Tool)
			}
			args, err := json.Marshal(c.Args)
			if err != nil {
				t.Fatal(err)
			}
			called = append(called, c.Tool+" "+string(args))
			if len(results) == 0 {
				t.Fatalf("one call too many: %q", called)
			}
			c.Result = &Result{Text: results[0], JSON: object(results[0])}
			results = results[1:]
		}
	}
	if len(results) > 0 {
		t.Errorf("nobody asked for %q", results)
	}
	return called, last
}

func TestDiligence(t *testing.T) {
	const (
		claimed   = `{"state":"Executing","status":"claimed","next":"check","worktree":"/w"}`
		green     = `{"status":"passed","next":"submit"}`
		submitted = `{"next":"stop","message":"In."}`
		shown     = `{"next":"choose","patch":"/p","review_cycles_used":0}`
		again     = `{"next":"choose","patch":"/p","review_cycles_used":1}`
		diff      = "diff --git a/x b/x"
		done      = `{"next":"stop","message":"Done."}`

		submit  = `ferrus/submit {"no_change":"If there is none, the task needs none.","summary":"It is done as the task says.","verification":"The checks are green."}`
		consult = `ferrus/consult {"problem":"The task leaves it open.","question":"Which?","tried":"I read the code."}`
	)
	write := Work(func(r Request, work Told) []Call { return r.WriteFile(work.Worktree+"/x", "a\nb\n"+work.Review) })
	for _, c := range []struct {
		name    string
		policy  Policy
		tools   []Tool
		results []string
		want    []string
		end     string
	}{
		{"Claude works", Diligent(write), offering("Read Write Bash", "executor"),
			[]string{claimed, "none", "written", green, submitted},
			[]string{"ferrus/wait_for_task null", `Read {"file_path":"/w/x"}`, `Write {"content":"a\nb\n","file_path":"/w/x"}`, "ferrus/check null", submit}, "In."},
		{"Gemini CLI works", Diligent(write), offering("read_file write_file run_shell_command", "executor"),
			[]string{claimed, "none", "written", green, submitted},
			[]string{"ferrus/wait_for_task null", `read_file {"file_path":"/w/x"}`, `write_file {"content":"a\nb\n","file_path":"/w/x"}`, "ferrus/check null", submit}, "In."},
		{"opencode works", Diligent(write), offering("read write bash", "executor"),
			[]string{claimed, "none", "written", green, submitted},
			[]string{"ferrus/wait_for_task null", `read {"filePath":"/w/x"}`, `write {"content":"a\nb\n","filePath":"/w/x"}`, "ferrus/check null", submit}, "In."},
		{"Codex works", Diligent(write), offering("exec_command", "executor"),
			[]string{claimed, "written", green, submitted},
			[]string{"ferrus/wait_for_task null",
				`exec_command {"cmd":"apply_patch \u003c\u003c'END OF PATCH'\n*** Begin Patch\n*** Add File: /w/x\n+a\n+b\n*** End Patch\nEND OF PATCH\n"}`,
				"ferrus/check null", submit}, "In."},
		{"Codex with a tool for patches works", Diligent(write), offering("apply_patch", "executor"),
			[]string{claimed, "written", green, submitted},
			[]string{"ferrus/wait_for_task null", `apply_patch {"input":"*** Begin Patch\n*** Add File: /w/x\n+a\n+b\n*** End Patch\n"}`,
				"ferrus/check null", submit}, "In."},
		{"a check that runs is waited for", Diligent(write), offering("apply_patch", "executor"),
			[]string{claimed, "written", `{"status":"running","next":"check"}`, green, submitted},
			[]string{"wait_for_task", "apply_patch", "check", "check", "submit"}, "In."},
		{"red means work", Diligent(write), offering("apply_patch", "executor"),
			[]string{claimed, "written", `{"status":"red","next":"check"}`, "written", green, submitted},
			[]string{"wait_for_task", "apply_patch", "check", "apply_patch", "check", "submit"}, "In."},
		{"nobody has work", Diligent(write), offering("", "executor"), []string{`{"next":"wait_for_task"}`, done},
			[]string{"wait_for_task", "wait_for_task"}, "Done."},
		{"the server is gone", Diligent(write), offering("", "executor"), []string{"Transport closed"}, []string{"wait_for_task"}, "Transport closed"},
		{"one consultation", Diligent(ConsultOnce("Which?"), write), offering("apply_patch", "executor"),
			[]string{claimed, `{"next":"wait_for_consult"}`, `{"next":"check","response":"This."}`, "written", green, submitted},
			[]string{"wait_for_task", consult, "wait_for_consult", "apply_patch", "check", "submit"}, "In."},
		{"one consultation a task", Diligent(ConsultOnce("Which?")), offering("", "executor"),
			[]string{`{"status":"claimed","next":"check","consultations":[{"id":"c1"}]}`, green, submitted}, []string{"wait_for_task", "check", "submit"}, "In."},
		{"one question", Diligent(AskOnce("Which?")), offering("", "executor"),
			[]string{claimed, `{"next":"stop","message":"Asked."}`}, []string{"wait_for_task", `ferrus/ask_human {"question":"Which?"}`}, "Asked."},
		{"one question a task", Diligent(AskOnce("Which?")), offering("", "executor"),
			[]string{`{"status":"claimed","next":"check","decisions":[{"id":"q1"}]}`, green, submitted}, []string{"wait_for_task", "check", "submit"}, "In."},
		{"leaves", Diligent(Answer(Say("Bye."))), offering("", "executor"), nil, nil, "Bye."},
		{"leaves with the work", Diligent(When(Claimed, Answer(Say("Bye.")))), offering("", "executor"), []string{claimed}, []string{"wait_for_task"}, "Bye."},

		{"Claude reviews", Diligent(ReadPatch(), RejectFirst("No.")), offering("Read", "supervisor"),
			[]string{`{"next":"review_pending"}`, shown, diff, done},
			[]string{"status", "review_pending", `Read {"file_path":"/p"}`, `ferrus/reject {"notes":"No."}`}, "Done."},
		{"Codex reviews again", Diligent(ReadPatch(), RejectFirst("No.")), offering("exec_command", "supervisor"),
			[]string{`{"next":"review_pending"}`, again, diff, done},
			[]string{"status", "review_pending", `exec_command {"cmd":"cat '/p'"}`, "approve"}, "Done."},
		{"is consulted", Diligent(Respond("This.")), offering("", "supervisor"),
			[]string{`{"next":"wait_for_review"}`, `{"next":"respond_consult"}`, done},
			[]string{"status", "wait_for_review", `ferrus/respond_consult {"response":"This."}`}, "Done."},
		{"gives a task", Diligent(Create("Build.")), offering("", "supervisor"), []string{`{"next":"create_task"}`, done},
			[]string{"status", `ferrus/create_task {"description":"Build."}`}, "Done."},
	} {
		t.Run(c.name, func(t *testing.T) {
			called, last := play(t, c.policy, c.tools, c.results...)
			short := func(got, want string) bool { // want may be the name alone
				name, _, _ := strings.Cut(got, " ")
				return got == want || strings.TrimPrefix(name, "ferrus/") == want
			}
			if !slices.EqualFunc(called, c.want, short) {
				t.Errorf("called\n%s\nwant\n%s", strings.Join(called, "\n"), strings.Join(c.want, "\n"))
			}
			if last.Text != c.end || last.Problem != "" {
				t.Errorf("ended with %q %s, want %q", last.Text, last.Problem, c.end)
			}
		})
	}
}

// TestWhatAModelCannotGoOnWith is a problem, which fails its test.
func TestWhatAModelCannotGoOnWith(t *testing.T) {
	endless := make([]string, tireless)
	for i := range endless {
		endless[i] = `{"next":"check","message":"Again."}`
	}
	for _, c := range []struct {
		rules   []Rule
		tools   []Tool
		results []string
		want    string
	}{
		{nil, offering("Bash", ""), nil, "no tools of ferrus among [Bash]"},
		{nil, offering("", "executor"), endless, "80 replies and no end: check, Again."},
		{[]Rule{ReadPatch()}, offering("Read", "supervisor"), []string{`{"next":"choose","patch":"/p"}`, "denied"}, "the reviewer cannot read the patch: denied"},
	} {
		if _, last := play(t, Diligent(c.rules...), c.tools, c.results...); last.Problem != c.want {
			t.Errorf("%v: problem %q, want %q", c.tools, last.Problem, c.want)
		}
	}
}
