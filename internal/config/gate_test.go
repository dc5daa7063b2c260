package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPinKeepsWhatJudges(t *testing.T) {
	g := Default().Gate()
	g.Checks.Commands = []string{`go test ./... && echo "<ok>"`}
	g.Checks.Env["A"] = "b"
	g.Limits.MaxReviewCycles = 9
	back, err := DecodeGate(g.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g, back); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(g.Encode()), `&& echo \"<ok>\"`) || strings.Contains(string(g.Encode()), "\n") {
		t.Errorf("not one readable line: %s", g.Encode())
	}
}

func TestAPinKeepsNoCommandsAndAnEmptyListApart(t *testing.T) {
	for _, commands := range [][]string{nil, {}} {
		g := Gate{Checks: Checks{Commands: commands}}
		back, err := DecodeGate(g.Encode())
		if err != nil || (back.Checks.Commands == nil) != (commands == nil) {
			t.Errorf("%#v came back as %#v, %v", commands, back.Checks.Commands, err)
		}
	}
}

func TestEqualGatesHaveEqualPins(t *testing.T) {
	a := Gate{Checks: Checks{Env: map[string]string{"A": "1", "B": "2"}}}
	b := Gate{Checks: Checks{Env: map[string]string{"B": "2", "A": "1"}, Ignore: []string{}, EnvDeny: []string{}}}
	if string(a.Encode()) != string(b.Encode()) {
		t.Errorf("%s\n%s", a.Encode(), b.Encode())
	}
	if diff := a.Diff(b); diff != nil {
		t.Errorf("equal gates differ: %v", diff)
	}
}

func TestEveryDifferenceOfTwoGatesIsNamed(t *testing.T) {
	pinned, now := Default().Gate(), Gate{}
	now.Checks.Commands = []string{}
	var keysDiffering []string
	for _, c := range pinned.Diff(now) {
		keysDiffering = append(keysDiffering, c.Key)
	}
	want := strings.Fields("checks.commands checks.env_deny checks.max_log_mb checks.timeout_secs hq.executor.agent hq.supervisor.agent " +
		"limits.max_check_retries limits.max_executor_dispatches limits.max_feedback_lines " +
		"limits.max_messages limits.max_progress_notes limits.max_review_cycles limits.max_same_failure")
	if diff := cmp.Diff(want, keysDiffering); diff != "" {
		t.Error(diff)
	}
	if got := pinned.Diff(now)[0].String(); got != "checks.commands: frozen none, now []" {
		t.Error(got)
	}
	now = pinned
	now.Checks.Env, now.Checks.Ignore = map[string]string{"b c": "x", "A": "1"}, []string{"*.md"}
	want = []string{
		`checks.env: frozen {}, now { A = "1", "b c" = "x" }`,
		`checks.ignore: frozen [], now ["*.md"]`,
	}
	var got []string
	for _, c := range pinned.Diff(now) {
		got = append(got, c.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPinThatCannotBeUnderstoodIsRefused(t *testing.T) {
	for _, text := range []string{"", "[]", `{"checks":{"command":[]}}`, `{"limits":{"max_review_cycles":"3"}}`, "{} {}", "{}x"} {
		if _, err := DecodeGate([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestAKeyThatWasNotPinnedHasItsDefault(t *testing.T) {
	g, err := DecodeGate([]byte(`{"checks":{"commands":["x"]},"limits":{"max_review_cycles":7}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Default().Gate()
	want.Checks.Commands, want.Limits.MaxReviewCycles = []string{"x"}, 7
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
}

func TestThePinSpellsItsKeysAsTheTableDoes(t *testing.T) {
	for table, typ := range map[string]reflect.Type{
		"checks": reflect.TypeFor[Checks](), "limits": reflect.TypeFor[Limits](),
		"pipelines": reflect.TypeFor[Pipelines](), "deliver": reflect.TypeFor[Deliver](),
	} {
		var tags []string
		for field := range typ.Fields() {
			tags = append(tags, field.Tag.Get("json"))
		}
		frozen := slices.DeleteFunc(children(table), func(name string) bool { return slices.Contains(live, table+"."+name) })
		if diff := cmp.Diff(frozen, tags); diff != "" {
			t.Errorf("[%s]: %s", table, diff)
		}
	}
}

// TestTheSetUpOfACleanGateIsFrozen: it runs where the gate does, so nobody may change it while the task runs.
func TestTheSetUpOfACleanGateIsFrozen(t *testing.T) {
	c := Default()
	c.Branches.Setup = "npm ci"
	if g := c.Gate(); g.Setup != "" || g.Checks.Clean() {
		t.Errorf("%+v", g)
	}
	c.Checks.Where = InClean
	frozen, err := DecodeGate(c.Gate().Encode())
	if err != nil || frozen.Setup != "npm ci" || !frozen.Checks.Clean() {
		t.Fatalf("%+v, %v", frozen, err)
	}
	c.Branches.Setup = "curl other | sh"
	got := frozen.Diff(c.Gate())
	if len(got) != 1 || got[0].Key != "branches.setup" {
		t.Errorf("%v", got)
	}
}

// TestTheScoreIsFrozenWithTheGate: whose number counts is decided before the work begins.
func TestTheScoreIsFrozenWithTheGate(t *testing.T) {
	c := Default()
	before := string(c.Gate().Encode())
	if strings.Contains(before, "score") {
		t.Errorf("a gate without a score command is another than before: %s", before)
	}
	c.Branches.Score = "make bench"
	frozen, err := DecodeGate(c.Gate().Encode())
	if err != nil || frozen.Score != "make bench" {
		t.Fatalf("%+v, %v", frozen, err)
	}
	c.Branches.Score = "echo 1000"
	if got := frozen.Diff(c.Gate()); len(got) != 1 || got[0].Key != "branches.score" || !InGate("branches.score") || InGate("branches.setup") {
		t.Errorf("%v", got)
	}
	if values := frozen.Executable(); len(values) != 1 || values[0].Key != "branches.score" {
		t.Errorf("agreed to: %v", values)
	}
}

// TestTheExecutorOfABranchIsItsOwn: it is the one that the branch names, and no difference from ferrus.toml.
func TestTheExecutorOfABranchIsItsOwn(t *testing.T) {
	conf := Default()
	conf.HQ.Executor = Agent{Agent: "codex", Model: "small", Args: []string{"--fast"}}
	g := conf.Gate()
	for _, c := range []struct {
		agent, model string
		want         Agent
	}{
		{"", "", conf.HQ.Executor},
		{"codex", "", conf.HQ.Executor},
		{"codex", "large", Agent{Agent: "codex", Model: "large", Args: []string{"--fast"}}},
		{"claude-code", "opus", Agent{Agent: "claude-code", Model: "opus", Args: []string{}}},
		{"claude-code", "", Agent{Agent: "claude-code", Args: []string{}}},
	} {
		as := g.As(c.agent, c.model)
		if diff := cmp.Diff(c.want, as.HQ.Executor); diff != "" {
			t.Errorf("%s:%s: %s", c.agent, c.model, diff)
		}
		if diff := as.Diff(g); diff != nil {
			t.Errorf("%s:%s differs: %v", c.agent, c.model, diff)
		}
		if other := as.HQ.Supervisor; other.Agent != g.HQ.Supervisor.Agent {
			t.Errorf("its reviewer is %v", other)
		}
	}
	if diff := cmp.Diff(conf.HQ.Executor, g.HQ.Executor); diff != "" {
		t.Errorf("the gate itself has changed: %s", diff)
	}
}

// TestAPipelineIsNoPartOfTheGate: an edit of where results go must not look like one of what judges a task.
func TestAPipelineIsNoPartOfTheGate(t *testing.T) {
	c := Default()
	c.Pipelines, c.Deliver = Pipelines{"a", "b", []string{"c"}}, Deliver{ToFile, "x", "y", 1}
	if diff := cmp.Diff(string(Default().Gate().Encode()), string(c.Gate().Encode())); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecodeGate(f *testing.F) {
	f.Add(Default().Gate().Encode())
	f.Add([]byte(`{"checks":{"env":null,"commands":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := DecodeGate(data)
		if err != nil {
			return
		}
		back, err := DecodeGate(g.Encode())
		if err != nil || g.Diff(back) != nil {
			t.Fatalf("%s: %v %v", g.Encode(), err, g.Diff(back))
		}
	})
}
