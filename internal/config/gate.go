package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/rules"
)

// A Gate decides about the work, and which agents do the work and review it: [checks], [limits],
// [notify], [hq], [branches] score and [[rules]]. It is frozen when a task is created. So agents
// cannot loosen their own checks or choose another reviewer, and no command that an agent wrote
// runs outside of the agent's sandbox.
type Gate struct {
	Checks Checks `json:"checks"`
	Limits Limits `json:"limits"`
	Notify Notify `json:"notify"`
	HQ     HQ     `json:"hq"`

	// Setup is [branches] setup if the gate runs in a private checkout, which needs it too; else
	// "".
	Setup string `json:"setup,omitempty"`

	Rules []rules.Rule `json:"rules,omitempty"`

	// Score is [branches] score.
	Score string `json:"score,omitempty"`

	// Variant is what As put in place of the executor; not frozen, because the branch has it.
	Variant *Agent `json:"-"`
}

// As returns the gate of a branch whose executor is another agent than the configured one; the same
// gate for agent "". What is configured for that agent stays; arguments for another one do not fit.
// A model of "" is the configured one of that agent, else the agent's own choice. It has no fallback.
func (g Gate) As(agent, model string) Gate {
	if agent == "" {
		return g
	}
	if g.HQ.Executor.Agent != agent {
		g.HQ.Executor = Agent{Agent: agent, Args: []string{}}
	}
	if model != "" {
		g.HQ.Executor.Model = model
	}
	g.HQ.Executor.Fallback = nil
	g.Variant = &Agent{Agent: agent, Model: model}
	return g
}

// A Change is one key in which a frozen gate and the present one differ. The values are written as
// in ferrus.toml; commands that were never configured are "none".
type Change struct {
	Key    string `json:"key"`
	Pinned string `json:"pinned"`
	Now    string `json:"now"`
}

// Gate returns the part of the configuration that is frozen with a task. It shares c's slices.
func (c Config) Gate() Gate {
	g := Gate{Checks: c.Checks, Limits: c.Limits, Notify: c.Notify, HQ: c.HQ, Score: c.Branches.Score, Rules: c.Rules}
	if c.Checks.Clean() {
		g.Setup = c.Branches.Setup
	}
	return g
}

// Rehearsed names what a rehearsal tries: the set-up and [checks]. Configurations with the same name differ in nothing that could
// make it pass or fail.
func (c Config) Rehearsed() string {
	sum := sha256.Sum256(Gate{Checks: c.Checks, Setup: strings.TrimSpace(c.Branches.Setup)}.Encode())
	return hex.EncodeToString(sum[:8])
}

// config returns a configuration that has only the gate.
func (g Gate) config() Config {
	return Config{Checks: g.Checks, Limits: g.Limits, Notify: g.Notify, HQ: g.HQ, Branches: Branches{Setup: g.Setup, Score: g.Score}, Rules: g.Rules}
}

// unpinned are the tables that are not part of a gate: they check nothing and run nothing in a
// task. A run of a pipeline freezes its own.
var unpinned = []string{"server", "lease", "pipelines", "deliver"}

// OfDelegate returns the gate of a delegate of a task with this gate. It has no rules, because the executor decides about its
// delegates; it can have no delegates itself; and it has no budget of its own, because it uses that of the task.
func (g Gate) OfDelegate() Gate {
	l := &g.Limits
	g.Rules, l.MaxDelegates, l.MaxTaskMinutes, l.MaxTaskTokens, l.MaxTaskDollars = nil, 0, 0, 0, 0
	return g
}

// live are the keys of other tables that are not part of a gate.
var live = []string{"notify.urls", "notify.desktop", "limits.max_day_minutes", "limits.max_day_tokens", "limits.max_day_dollars", "limits.day_zone"}

// Encode returns the gate as canonical JSON on one line: equal gates give equal bytes. Nil commands
// (not configured) and empty ones (every check passes) differ; in every other list or table nil
// equals empty.
func (g Gate) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // commands are full of && and >, and people read the journal
	if err := e.Encode(g.normal()); err != nil {
		panic(err) // strings and numbers are never refused
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// DecodeGate reads what Encode wrote. A key that an older ferrus did not freeze has its default. An
// unknown key is an error, because a part of a gate must not be ignored.
func DecodeGate(data []byte) (Gate, error) {
	g := Default().Gate()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return Gate{}, fmt.Errorf("read the frozen gate: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Gate{}, fmt.Errorf("read the frozen gate: more than one value")
	}
	for i, r := range g.Rules {
		if err := r.Check(nil); err != nil {
			return Gate{}, fmt.Errorf("read the frozen gate: rule %d: %v", i+1, err)
		}
	}
	return g.normal(), nil
}

// Diff returns every key in which now differs from the frozen g, sorted by key; nil when they are
// equal. The executor of a branch that has its own does not differ.
func (g Gate) Diff(now Gate) []Change {
	if v := g.Variant; v != nil {
		now = now.As(v.Agent, v.Model)
	}
	g, now = g.normal(), now.normal()
	if reflect.DeepEqual(g, now) {
		return nil
	}
	pinned, present := g.config(), now.config()
	var changes []Change
	for _, k := range keys {
		if slices.Contains(unpinned, k.table()) {
			continue
		}
		was, is := literal(k.value(pinned)), literal(k.value(present))
		if was != is {
			changes = append(changes, Change{Key: k.name, Pinned: was, Now: is})
		}
	}
	changes = append(changes, ruleChanges(g.Rules, now.Rules)...)
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	return changes
}

// String reads "checks.timeout_secs: frozen 1800, now 60".
func (c Change) String() string {
	return strings.Join([]string{c.Key, ": frozen ", c.Pinned, ", now ", c.Now}, "")
}

// normal makes nil and empty equal wherever they mean the same.
func (g Gate) normal() Gate {
	if g.Checks.Ignore == nil {
		g.Checks.Ignore = []string{}
	}
	if g.HQ.Continue == "" {
		g.HQ.Continue = Fresh
	}
	if g.Checks.Where == "" {
		g.Checks.Where = InWorktree
	}
	if g.Checks.Sandbox == "" {
		g.Checks.Sandbox = NoSandbox
	}
	if len(g.Checks.Read) == 0 {
		g.Checks.Read = []string{}
	}
	if g.Checks.EnvDeny == nil {
		g.Checks.EnvDeny = []string{}
	}
	if len(g.Rules) == 0 {
		g.Rules = nil
	}
	if g.Checks.Env == nil {
		g.Checks.Env = map[string]string{}
	}
	if g.HQ.Sandbox.Mode == "" {
		g.HQ.Sandbox.Mode = NoSandbox
	}
	for _, list := range []*[]string{&g.HQ.Sandbox.Read, &g.HQ.Sandbox.Write} {
		if len(*list) == 0 {
			*list = []string{}
		}
	}
	for _, a := range []*Agent{&g.HQ.Supervisor, &g.HQ.Executor} {
		if a.Args == nil {
			a.Args = []string{}
		}
		if a.Fallback == nil {
			a.Fallback = []string{}
		}
	}
	return g
}
