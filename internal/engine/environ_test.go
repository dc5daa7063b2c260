package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestAServersEnvironmentJudgesNothing: a server that finds other programs first, or has a loader preload a library, runs
// the checks with what was frozen with the task, and says so.
func TestAServersEnvironmentJudgesNothing(t *testing.T) {
	p := enginetest.Plain(t, enginetest.Gate("grep -q good code.txt", `test -z "$LD_LIBRARY_PATH$BASH_ENV$NODE_OPTIONS"`))
	p.Write("code.txt", "bad\n")
	enginetest.Must(p.AsPerson().Human().CreateTask(t.Context(), "Do it.", ""))(t)
	t.Setenv("PATH", p.Fakes("grep", "sh", "test", "true")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("BASH_ENV", "/tmp/other")
	t.Setenv("LD_LIBRARY_PATH", "/tmp/other")
	t.Setenv("NODE_OPTIONS", "--require=/tmp/other.js")
	ex := p.Executor("codex")
	enginetest.Claim(t, ex)
	out, err := ex.Check(t.Context(), kit.Patience)
	if err != nil || out.Status != state.CheckRed || len(out.Failures) != 1 || !strings.HasPrefix(out.Failures[0].Line, "grep") {
		t.Fatalf("%+v, %v", out, err)
	}
	st, err := ex.Engine().Status()
	if err != nil {
		t.Fatal(err)
	}
	if got := engine.Environ(st.Facts()); !strings.HasPrefix(got, "environment: BASH_ENV, LD_LIBRARY_PATH, NODE_OPTIONS, PATH of this server") ||
		strings.Contains(got, "/tmp/other") {
		t.Errorf("notices: %s", got)
	}

	// A person may freeze another one, and a return to an earlier entry does not bring the first back.
	changes, _, err := p.AsPerson().Human().AcceptConfig(t.Context())
	if err != nil || len(changes) != 1 || changes[0].Key != "environment" || strings.Contains(changes[0].String(), "/tmp/other") {
		t.Fatalf("%+v, %v", changes, err)
	}
	if again, _, err := p.AsPerson().Human().AcceptConfig(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	h := p.Human()
	enginetest.Must(h.Rollback(t.Context(), 1, "again"))(t)
	now, err := h.Engine().View()
	if err != nil {
		t.Fatal(err)
	}
	if env, err := h.Engine().Environ(now); err != nil || env["NODE_OPTIONS"] != "--require=/tmp/other.js" {
		t.Errorf("after a rollback: %q, %v", env["NODE_OPTIONS"], err)
	}
}

// TestATaskOfAnOlderFerrusHasNoEnvironment: nothing is frozen with it, and its checks see that of the server.
func TestATaskOfAnOlderFerrusHasNoEnvironment(t *testing.T) {
	p := enginetest.Plain(t, enginetest.Gate("grep -q good code.txt"))
	p.Write("code.txt", "bad\n")
	_, ex := p.Begun()
	t.Setenv("PATH", p.Fakes("grep")+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := ex.Check(t.Context(), kit.Patience)
	if err != nil || out.Status != state.CheckGreen {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, ok := out.Task.Docs[store.EnvironDoc]; ok {
		t.Error("an environment is frozen that nobody named")
	}
}

// TestAnAgentsTaskHasTheEnvironmentOfAPerson: a supervisor's server freezes what the newest command of a person had.
func TestAnAgentsTaskHasTheEnvironmentOfAPerson(t *testing.T) {
	enginetest.InFiles(t, "it has another record of the project")
	p := enginetest.Plain(t, enginetest.Gate("true"))
	t.Setenv("FERRUS_STATE_DIR", filepath.Join(p.Side, "state"))
	record, err := trust.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Opts.Project = record
	if err := agreement.Agree(p.Dir); err != nil {
		t.Fatal(err)
	}
	if err := record.Agree([]trust.Value{{Key: "checks.commands", Value: `["true"]`}}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-mod=person")
	p.AsPerson().Human().Engine().RecordEnviron()
	t.Setenv("GOFLAGS", "-mod=server")
	done := enginetest.Must(p.Supervisor().CreateTask(t.Context(), "Do it.", ""))(t)
	if env, err := p.Engine().Environ(done.Snapshot); err != nil || env["GOFLAGS"] != "-mod=person" {
		t.Errorf("%v, %v", env, err)
	}
}
