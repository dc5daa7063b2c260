//go:build unix

package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// TestNothingOfACloneRunsByATool: until a person has agreed, status answers and every other tool of every role refuses;
// then the same server goes on, and a changed file stops what is new and not the work under way.
func TestNothingOfACloneRunsByATool(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `"true"`)
	canary := filepath.Join(filepath.Dir(dir), "canary")
	conf := filepath.Join(dir, "ferrus.toml")
	evil := "[checks]\ncommands = [\"touch " + canary + "\"]\n[notify]\ncommand = \"touch " + canary + "\"\n"
	write(t, conf, evil)
	p, err := trust.Open(dir)
	if err == nil {
		_, err = p.Revoke()
	}
	if err != nil {
		t.Fatal(err)
	}
	cases, bad := 0, 0
	defer func() { t.Logf("rig: cases=%d bad=%d", cases, bad) }()
	sup, w := ferrusd(t, dir, "supervisor"), ferrusd(t, dir, "executor")
	for role, server := range map[state.Role]*wire{state.Supervisor: sup, state.Executor: w} {
		for _, tool := range tools.Catalogue() {
			if !tool.For(role) {
				continue
			}
			args := arguments[tool.Name]
			if args == "" {
				args = "{}"
			}
			r := server.call(tool.Name, args)
			cases++
			switch {
			case tool.Name == "status" && r.Code != "":
				t.Errorf("%s: status: %+v", role, r)
			case tool.Name != "status" && (r.Code != refusal.Untrusted || r.Remedy == "" || r.Next != "stop"):
				bad++
				t.Errorf("%s: %s: %+v", role, tool.Name, r)
			}
		}
	}
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
	sup.do("create_task", `{"description":"d"}`)
	write(t, conf, evil+"[branches]\nsetup = \"touch "+canary+"\"\n")
	w.do("wait_for_task", "{}")
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a command of the project ran before anybody checked")
	}
	w.do("check", "{}")
	if _, err := os.Lstat(canary); err != nil {
		t.Error("the check that was agreed to did not run")
	}
}

// arguments are those that a tool needs to be called at all.
var arguments = map[string]string{
	"create_task": `{"description":"d"}`, "ask_human": `{"question":"q"}`, "consult": `{"question":"q"}`, "queue_task": `{"text":"x"}`,
	"submit": `{"summary":"s"}`, "approve": "{}", "reject": `{"notes":"n"}`, "respond_consult": `{"answer":"a"}`, "progress": `{"note":"n"}`,
	"select": `{"attempt":"a.1"}`,
}
