package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// launched is all that a launch gives a client.
func launched(t *testing.T, a Adapter, s LaunchSpec) string {
	t.Helper()
	l, err := a.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	return render(l)
}

func TestAWorkersServerKnowsItsRun(t *testing.T) {
	for _, a := range All() {
		want := []string{"/opt/fer rus/ferrus", "serve", "--role", "worker", "--run", run, "--worker", "researcher-a",
			"--attempt", "2", "--agent-name", a.Name, "--wait", fmt.Sprint(a.Wait), "--headless"}
		if diff := cmp.Diff(want, a.server(specFor(t, Worker, true))); diff != "" {
			t.Errorf("%s: %s", a.Name, diff)
		}
	}
}

// TestAWorkerHasNoRoleInATask: the tables of the task have nothing about it.
func TestAWorkerHasNoRoleInATask(t *testing.T) {
	if slices.Contains(Duties(), Worker) {
		t.Error("it has a duty at the task")
	}
	for _, d := range Duties() {
		if d.Role() == Worker.Role() {
			t.Errorf("it has the role of the %s", d)
		}
	}
}

// TestAWorkerWritesItsFileAndNoneOfOurs is S0-20, as far as edit tools can be told.
func TestAWorkerWritesItsFileAndNoneOfOurs(t *testing.T) {
	refuses := func(s LaunchSpec, path string) bool {
		return slices.ContainsFunc(s.untouched(), func(p string) bool {
			dir, all := strings.CutSuffix(p, "**")
			return p == path || all && strings.HasPrefix(path, dir)
		})
	}
	for _, dir := range []string{run, "/elsewhere/research-180141"} {
		s := specFor(t, Worker, true)
		s.Run = dir
		for _, name := range []string{"researcher-a.md", "researcher-a.md.tmp", "dialogue.json", "workers.md", "status.md"} {
			if refuses(s, dir+"/"+name) {
				t.Errorf("%s/%s cannot be written", dir, name)
			}
		}
		for _, name := range []string{"status.json", "workflow.json", "journal.jsonl", "delivery.json", "workers/researcher-a.json",
			"prompts/researcher-a.txt", "kept/status.json", "attempts/researcher-a.1/researcher-a.md"} {
			if !refuses(s, dir+"/"+name) {
				t.Errorf("%s/%s can be written", dir, name)
			}
		}
		for _, name := range []string{"STATE.json", "journal.jsonl", "TASK.md", "CONSULT_RESPONSE.md", "tokens.json", "branches/b1/STATE.json"} {
			if !refuses(s, "/home/me/p/.ferrus/"+name) {
				t.Errorf(".ferrus/%s can be written", name)
			}
		}
	}
	if s := specFor(t, Executor, true); !refuses(s, run+"/researcher-a.md") {
		t.Error("an executor can write into a run")
	}
}

// TestAWorkerReachesItsRun, also where it does not lie within the folder of the work.
func TestAWorkerReachesItsRun(t *testing.T) {
	way := map[string]string{
		claude.Name: "\"additionalDirectories\": [\n      \"/elsewhere/r\"\n", codex.Name: `"--add-dir=/elsewhere/r"`,
		qwen.Name: `"--include-directories=/elsewhere/r"`, gemini.Name: `"--include-directories=/elsewhere/r"`,
	}
	for _, a := range All() {
		s := specFor(t, Worker, true)
		s.Run = "/elsewhere/r"
		if text := launched(t, a, s); !strings.Contains(text, way[a.Name]) {
			t.Errorf("%s does not reach its run:\n%s", a.Name, text)
		}
		s.Work, s.Run = s.Root, run
		text := launched(t, a, s)
		if strings.Contains(text, "additionalDirectories") || strings.Contains(text, "--include-directories") {
			t.Errorf("%s is given more than its work, within which its run lies:\n%s", a.Name, text)
		}
		// The name may lead elsewhere than it says, and what may be written goes by where it leads.
		if a.Name == codex.Name && !strings.Contains(text, `"--add-dir=`+run+`"`) {
			t.Errorf("codex may not write into its run:\n%s", text)
		}
	}
}

// TestAWorkerStartsNoOther, where the client can be told; an executor may go on doing so.
func TestAWorkerStartsNoOther(t *testing.T) {
	for _, c := range []struct {
		agent       Adapter
		off         string // what takes the tools away
		theExecutor string // what leaves them
	}{
		{claude, claudeNever + ",Agent,Task,Workflow\"", "--disallowedTools=" + claudeNever + "\""},
		{codex, "agents.enabled=false", `"codex"`},
		{qwen, qwenNever + ",agent,task,workflow,create_sub_session,team_create\"", "--exclude-tools=" + qwenNever + "\""},
		{gemini, "toolName = \"invoke_agent\"\ndecision = \"deny\"\npriority = 997\n", "[[rule]]"},
		{opencode, `"permission":{"*":"deny","bash":"allow"`, `"task":"allow"`},
	} {
		worker, executor := launched(t, c.agent, specFor(t, Worker, true)), launched(t, c.agent, specFor(t, Executor, true))
		if !strings.Contains(worker, c.off) || strings.Contains(worker, `"task":"`) {
			t.Errorf("%s: a worker can start others:\n%s", c.agent.Name, worker)
		}
		if !strings.Contains(executor, c.theExecutor) || c.agent.Name != opencode.Name && strings.Contains(executor, c.off) {
			t.Errorf("%s: an executor cannot:\n%s", c.agent.Name, executor)
		}
	}
}

// TestASpeakerEditsOneFileAndHasNoShell, as far as each client can be told: S3-06.
func TestASpeakerEditsOneFileAndHasNoShell(t *testing.T) {
	file := run + "/dialogue.json"
	for _, c := range []struct {
		agent    Adapter
		has, not []string // not is what a worker has and a speaker has not
	}{
		{claude, []string{`"--tools=Read,Edit"`, `"--permission-mode=dontAsk"`, `"--allowedTools=mcp__ferrus,Read"`, `"Edit(/` + file + `)"`},
			[]string{"Bash", "WebFetch", "acceptEdits"}},
		{qwen, []string{`"--approval-mode=auto-edit"`, `"--core-tools=read_file,list_directory,glob,grep_search,edit"`}, []string{"yolo"}},
		{gemini, []string{`"--approval-mode=default"`, `"search_file_content","replace"]`, "toolName = \"*\"\ndecision = \"deny\"\npriority = 996"}, []string{"yolo"}},
		{opencode, []string{`"edit":"allow"`, `"external_directory":{"*":"deny","` + run + `/*":"allow"}`},
			[]string{`"bash"`, `"webfetch"`, `"websearch"`, `"skill"`}},
	} {
		s := specFor(t, Worker, true)
		worker := launched(t, c.agent, s)
		s.Output, s.Speaks = file, true
		speaker := launched(t, c.agent, s)
		for _, text := range c.has {
			if !strings.Contains(speaker, text) {
				t.Errorf("%s: %s is not in\n%s", c.agent.Name, text, speaker)
			}
		}
		for _, text := range c.not {
			if strings.Contains(speaker, text) || !strings.Contains(worker, text) {
				t.Errorf("%s: %s is in the launch of a speaker, or not in that of a worker:\n%s", c.agent.Name, text, speaker)
			}
		}
	}
	for _, a := range All() {
		if a.Speaks == "" {
			t.Errorf("%s: nothing says what a speaker may do", a.Name)
		}
	}
}

// TestAWorkerSeesWhatGitIgnores: a run usually lies there, with all that a worker is to read.
func TestAWorkerSeesWhatGitIgnores(t *testing.T) {
	const sees = "\"respectGitIgnore\": false"
	if text := launched(t, gemini, specFor(t, Worker, true)); !strings.Contains(text, sees) {
		t.Error(text)
	}
	if text := launched(t, gemini, specFor(t, Executor, true)); strings.Contains(text, sees) {
		t.Error(text)
	}
}

func TestACommandIsToldOfItsRun(t *testing.T) {
	s := specFor(t, Worker, true)
	s.Command = "play {worker} in {run_dir} to {output} as {duty}, {role}"
	text := launched(t, command, s)
	for _, want := range []string{
		"play 'researcher-a' in '" + run + "' to '" + run + "/researcher-a.md' as 'worker', 'worker'",
		"env FERRUS_WORKER=researcher-a\n", "env FERRUS_RUN_DIR=" + run + "\n", "env FERRUS_OUTPUT=" + run + "/researcher-a.md\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	// Of this name is the mark by which the processes of an agent are found.
	if strings.Contains(text, "env FERRUS_RUN=") {
		t.Errorf("the mark of the processes is taken:\n%s", text)
	}
	s = specFor(t, Executor, true)
	s.Command = "play {worker}{run_dir}{output}"
	if text := launched(t, command, s); !strings.Contains(text, `"play ''''''`) {
		t.Errorf("an executor's are not empty:\n%s", text)
	}
}
