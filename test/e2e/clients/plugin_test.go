//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// A plugged client has the plugin of the folder plugin, of this repository. REPO and PLUGIN stand for the two.
type plugged struct {
	agent, server string     // as which its model sees the server
	install       [][]string // by its own commands
	session       []string   // of a person, before the prompt
	command, says string     // one that the plugin brings, and a part of what it tells the model
	settings      map[string]string
	env           []string
}

var pluggable = []plugged{
	{agent: claude, server: "plugin_ferrus_ferrus", session: []string{"claude", "--allowedTools", "mcp__plugin_ferrus_ferrus,mcp__ferrus", "-p"},
		install: [][]string{{"claude", "plugin", "validate", "PLUGIN"}, {"claude", "plugin", "validate", "REPO"},
			{"claude", "plugin", "install", "ferrus", "--marketplace", "REPO"}},
		command: "/ferrus:status", says: "ferrus questions"},
	{agent: codex, server: "ferrus", session: []string{"codex", "exec", "--skip-git-repo-check"},
		install: [][]string{{"codex", "plugin", "marketplace", "add", "REPO"}, {"codex", "plugin", "add", agents.Plugin}},
		command: "$ferrus:ferrus-queue", says: "Split the goal into results"},
	{agent: gemini, server: "ferrus", session: []string{"gemini", "--yolo", "-p"},
		install: [][]string{{"gemini", "extensions", "validate", "PLUGIN"}, {"gemini", "extensions", "install", "--consent", "PLUGIN"}},
		command: "/ferrus:status", says: "ferrus questions",
		settings: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
		env:      []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}},
}

// look is what a person says to a client of their own.
const look = "Look at ferrus."

// TestThePluginServesAPersonsSession of each client that takes it: with the tools of the client's role once, in a project alone, and
// not beside a registered server. Sessions that ferrus starts do not see it.
func TestThePluginServesAPersonsSession(t *testing.T) {
	t.Parallel()
	for _, p := range pluggable {
		t.Run(p.agent, func(t *testing.T) {
			t.Parallel()
			r := p.newRig(t)
			if got, want := r.person(p, look), calls(p.server, state.Supervisor); !slices.Equal(got, want) {
				t.Errorf("in a project its model sees\n%v\nwant\n%v", got, want)
			}
			if now := r.now(); now.State != state.Executing {
				t.Errorf("the task is %s", now.State)
			}
			r.must(ferrus, "register", "--supervisor", p.agent, "--executor", p.agent)
			if got, want := r.in(filepath.Join(r.dir, "below")).person(p, look), calls("ferrus", state.Supervisor); !slices.Equal(got, want) {
				t.Errorf("below a registered project its model sees\n%v\nwant\n%v", got, want)
			}
			r.must(ferrus, "unregister")
			r.agree()
			before := len(r.model.Seen())
			if got := r.in(filepath.Join(r.base, "elsewhere")).person(p, p.command); len(got) > 0 {
				t.Errorf("in a folder without ferrus its model sees %v", got)
			}
			if !slices.ContainsFunc(r.model.Seen()[before:], func(s model.Seen) bool { return strings.Contains(s.Body, p.says) }) {
				t.Errorf("%s does not say %q", p.command, p.says)
			}
			if p.agent != gemini || kit.Named() { // it starts slowly, three times
				r.withoutThePlugin()
			}
		})
	}
}

// newRig makes a project in which the client is both agents, and has the plugin.
func (p plugged) newRig(t *testing.T) *rig {
	t.Helper()
	diligent := model.Diligent(model.Work(paint)) // no reading of the patch, which Gemini CLI refuses
	r := newRig(t, p.agent, p.agent, func(q model.Request) model.Reply {
		switch create := p.server + "/create_task"; {
		case q.Prompt != look && (q.Executor() || q.Supervisor()):
			return diligent(q)
		case q.Offers(create) && !q.Called(create):
			return model.Use(create, map[string]any{"description": task})
		}
		return model.Say("Thank you.")
	})
	p.plug(r)
	return r
}

// plug gives the person of a rig the plugin.
func (p plugged) plug(r *rig) {
	t := r.t
	t.Helper()
	r.env = append(append(r.env, p.env...), "PATH="+filepath.Dir(ferrus)+string(os.PathListSeparator)+strings.TrimPrefix(r.env[0], "PATH="))
	for name, text := range p.settings {
		r.write(filepath.Join(r.base, "home", name), text)
	}
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	named := strings.NewReplacer("REPO", repo, "PLUGIN", filepath.Join(repo, "plugin"))
	for _, line := range p.install {
		line = slices.Clone(line)
		for i := range line {
			line[i] = named.Replace(line[i])
		}
		t.Logf("%v\n%s", line, r.must("env", line...))
	}
}

// in is the rig with another working directory.
func (r *rig) in(dir string) *rig {
	r.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.t.Fatal(err)
	}
	other := *r
	other.dir = dir
	return &other
}

// person starts a session of a person, and returns the tools of ferrus that its model sees.
func (r *rig) person(p plugged, prompt string) []string {
	r.t.Helper()
	before := len(r.model.Seen())
	out := r.must("env", append(slices.Clone(p.session), prompt)...)
	if strings.Contains(out, "MCP issues") {
		r.t.Errorf("the client complains:\n%s", out)
	}
	seen := slices.DeleteFunc(r.model.Seen()[before:], func(s model.Seen) bool { return s.Side })
	if len(seen) == 0 {
		r.t.Fatalf("its model was not asked:\n%s", out)
	}
	if !strings.Contains(seen[0].Body, "ferrus-queue") {
		r.t.Errorf("its model does not know the skills: %.3000s", seen[0].Body)
	}
	var names []string
	for _, tool := range seen[len(seen)-1].Tools {
		if strings.Contains(tool.Server, "ferrus") {
			names = append(names, tool.String())
		}
	}
	slices.Sort(names)
	return names
}

// calls are the names by which a model calls the tools of a role.
func calls(server string, role state.Role) (names []string) {
	for _, tool := range listed(role) {
		names = append(names, server+"/"+tool)
	}
	return names
}

// withoutThePlugin lets ferrus do the task of the project: the models of its agents see the tools of their duty once, and nothing
// that the plugin brings.
func (r *rig) withoutThePlugin() {
	r.t.Helper()
	before := len(r.model.Seen())
	if code, out := r.run(ferrus, "run", "--headless"); code != 0 || r.now().State != state.Complete {
		r.t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, s := range r.model.Seen()[before:] {
		var names []string
		for _, tool := range s.Tools {
			if strings.Contains(tool.Server, "ferrus") {
				names = append(names, tool.Name)
			}
		}
		slices.Sort(names)
		if !s.Side && !slices.Equal(names, listed(state.Executor)) && !slices.Equal(names, listed(state.Supervisor)) {
			r.t.Errorf("an agent of ferrus sees %v", names)
		}
		if strings.Contains(s.Body, "ferrus-queue") {
			r.t.Errorf("an agent of ferrus reads of the plugin: %.2000s", s.Body)
		}
	}
}
