package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// fakes makes a folder in which programs of these names exit with 0, whatever they are asked.
func (p *machine) fakes(names ...string) string {
	p.t.Helper()
	dir := filepath.Join(p.side, "fakes")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	return dir
}

// asPerson is the project for a person's commands, which have an environment.
func (p *machine) asPerson() *machine {
	q := *p
	q.opts.Environ = os.Environ()
	return &q
}

// TestAServersEnvironmentJudgesNothing: a server that finds other programs first, or has a loader preload a library, runs
// the checks with what was frozen with the task, and says so.
func TestAServersEnvironmentJudgesNothing(t *testing.T) {
	p := plain(t, gate("grep -q good code.txt", `test -z "$LD_LIBRARY_PATH$BASH_ENV$NODE_OPTIONS"`))
	p.write("code.txt", "bad\n")
	must(p.asPerson().human().CreateTask(t.Context(), "Do it.", ""))(t)
	t.Setenv("PATH", p.fakes("grep", "sh", "test", "true")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("BASH_ENV", "/tmp/other")
	t.Setenv("LD_LIBRARY_PATH", "/tmp/other")
	t.Setenv("NODE_OPTIONS", "--require=/tmp/other.js")
	ex := p.executor("codex")
	claim(t, ex)
	out, err := ex.Check(t.Context(), patience)
	if err != nil || out.Status != state.CheckRed || len(out.Failures) != 1 || !strings.HasPrefix(out.Failures[0].Line, "grep") {
		t.Fatalf("%+v, %v", out, err)
	}
	st, err := ex.e.Status()
	if err != nil {
		t.Fatal(err)
	}
	if got := st.EnvironNotice(); !strings.HasPrefix(got, "environment: BASH_ENV, LD_LIBRARY_PATH, NODE_OPTIONS, PATH of this server") ||
		strings.Contains(got, "/tmp/other") {
		t.Errorf("notices: %s", got)
	}

	// A person may freeze another one, and a return to an earlier entry does not bring the first back.
	changes, _, err := p.asPerson().human().AcceptConfig(t.Context())
	if err != nil || len(changes) != 1 || changes[0].Key != "environment" || strings.Contains(changes[0].String(), "/tmp/other") {
		t.Fatalf("%+v, %v", changes, err)
	}
	if again, _, err := p.asPerson().human().AcceptConfig(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	h := p.human()
	must(h.Rollback(t.Context(), 1, "again"))(t)
	now, err := h.e.View()
	if err != nil {
		t.Fatal(err)
	}
	if env, err := h.e.Environ(now); err != nil || env["NODE_OPTIONS"] != "--require=/tmp/other.js" {
		t.Errorf("after a rollback: %q, %v", env["NODE_OPTIONS"], err)
	}
}

// TestATaskOfAnOlderFerrusHasNoEnvironment: nothing is frozen with it, and its checks see that of the server.
func TestATaskOfAnOlderFerrusHasNoEnvironment(t *testing.T) {
	p := plain(t, gate("grep -q good code.txt"))
	p.write("code.txt", "bad\n")
	_, ex := p.begun()
	t.Setenv("PATH", p.fakes("grep")+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := ex.Check(t.Context(), patience)
	if err != nil || out.Status != state.CheckGreen {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, ok := out.Task.Docs[store.EnvironDoc]; ok {
		t.Error("an environment is frozen that nobody named")
	}
}

// TestAnAgentsTaskHasTheEnvironmentOfAPerson: a supervisor's server freezes what the newest command of a person had.
func TestAnAgentsTaskHasTheEnvironmentOfAPerson(t *testing.T) {
	p := plain(t, gate("true"))
	t.Setenv("FERRUS_STATE_DIR", filepath.Join(p.side, "state"))
	record, err := trust.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	p.opts.Project = record
	if err := agreement.Agree(p.dir); err != nil {
		t.Fatal(err)
	}
	if err := record.Agree([]trust.Value{{Key: "checks.commands", Value: `["true"]`}}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-mod=person")
	p.asPerson().human().e.RecordEnviron()
	t.Setenv("GOFLAGS", "-mod=server")
	done := must(p.supervisor().CreateTask(t.Context(), "Do it.", ""))(t)
	if env, err := p.engine().Environ(done.Snapshot); err != nil || env["GOFLAGS"] != "-mod=person" {
		t.Errorf("%v, %v", env, err)
	}
}
