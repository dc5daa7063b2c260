//go:build unix

package clients

import (
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/model"
)

// own are the tools of the clients themselves that a model of a duty sees. Codex offers its shell always: what that may
// do is the business of its sandbox.
var own = map[string]struct{ reads, writes string }{
	claude: {"DeferredToolPlaceholder Glob Grep Read",
		`Agent Bash CronDelete CronList DeferredToolPlaceholder Edit ExitWorktree ListAgents ListMcpResourcesTool Monitor NotebookEdit
		Read ReadMcpResourceDirTool ReadMcpResourceTool ReportFindings SendMessage Skill TaskStop ToolSearch WebFetch WebSearch Workflow
		Write`},
	codex: {codexTools, codexTools},
}

const codexTools = `create_goal exec_command get_goal list_mcp_resource_templates list_mcp_resources multi_agent_v1/close_agent
	multi_agent_v1/resume_agent multi_agent_v1/send_input multi_agent_v1/spawn_agent multi_agent_v1/wait_agent read_mcp_resource
	request_user_input update_goal view_image web_search write_stdin`

// listed has our tools of a role, sorted, where no task may have delegates.
func listed(role state.Role) []string {
	var names []string
	for _, tool := range tools.Catalogue() {
		if tool.For(role) && tool.Name != "delegate" {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestTheModelSeesTheToolsOfItsDuty: of ours those of its role, and of the client's own none that write unless it is to
// write.
func TestTheModelSeesTheToolsOfItsDuty(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{claude, codex} {
		r := newRig(t, claude, codex, model.Diligent(model.Answer(model.Say("Thank you."))))
		for _, duty := range agents.Duties() {
			t.Run(agent+" "+string(duty), func(t *testing.T) {
				before := len(r.model.Seen())
				r.end(r.launch(agent, duty, "Look around."))
				seen := slices.DeleteFunc(r.model.Seen()[before:], func(s model.Seen) bool { return s.Side })
				if len(seen) != 1 || seen[0].Prompt != "Look around." {
					t.Fatalf("%v", seen)
				}
				var got []string
				for _, tool := range seen[0].Tools {
					got = append(got, tool.String())
				}
				want := strings.Fields(own[agent].reads)
				if duty.Writes() {
					want = strings.Fields(own[agent].writes)
				}
				for _, name := range listed(duty.Role()) {
					want = append(want, "ferrus/"+name)
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("it sees\n%v\nwant\n%v", got, want)
				}
			})
		}
	}
}

// TestAReviewerWritesNothing, though its model tries by all that it is offered.
func TestAReviewerWritesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.supervisor, func(t *testing.T) {
			tempted := model.When(model.Reviewing, func(r model.Request) (model.Reply, bool) {
				ways := []string{"echo red >colour.txt", "echo red >.ferrus/red", "git commit --allow-empty -m red", "rm -r .ferrus"}
				i := len(r.Since())
				if !r.Offers("exec_command") || i >= len(ways) {
					return model.Reply{}, false
				}
				return model.Reply{Calls: r.Shell(ways[i])}, true
			})
			r := newRig(t, p.supervisor, p.executor, model.Diligent(tempted, model.Work(paint)))
			head := r.must("git", "rev-parse", "HEAD")
			if code, out := r.run(ferrus, "run", "--headless", task); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if got := r.text("colour.txt"); got != "blue\n" || r.text(".ferrus/red") != "" || r.must("git", "rev-parse", "HEAD") != head {
				t.Errorf("colour.txt is %q", got)
			}
			if now := r.now(); now.State != state.Complete {
				t.Errorf("the task is %s", now.State)
			}
		})
	}
}
