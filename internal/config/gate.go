package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Gate is what judges the work, and who is started to do and to judge it:
// [checks], [limits], [notify] and [hq]. It is pinned when a task is made, so
// that the judged can neither weaken the judge nor choose another, and no
// command of an agent's runs outside of the agent's sandbox.
type Gate struct {
	Checks Checks `json:"checks"`
	Limits Limits `json:"limits"`
	Notify Notify `json:"notify"`
	HQ     HQ     `json:"hq"`

	// Setup is [branches] setup where the gate runs in a checkout of its own, which needs it too; else "".
	Setup string `json:"setup,omitempty"`
}

// Change is one key in which a pinned gate and the present one differ. The
// values are written as in ferrus.toml; commands never configured are "none".
type Change struct {
	Key    string `json:"key"`
	Pinned string `json:"pinned"`
	Now    string `json:"now"`
}

// Gate is the part of the configuration that is pinned. It shares c's slices.
func (c Config) Gate() Gate {
	g := Gate{Checks: c.Checks, Limits: c.Limits, Notify: c.Notify, HQ: c.HQ}
	if c.Checks.Clean() {
		g.Setup = c.Branches.Setup
	}
	return g
}

// config is a configuration that has the gate, and nothing else.
func (g Gate) config() Config {
	return Config{Checks: g.Checks, Limits: g.Limits, Notify: g.Notify, HQ: g.HQ, Branches: Branches{Setup: g.Setup}}
}

// unpinned are the tables that a gate has no part of: they judge nothing and
// run nothing in a task. A run of a pipeline pins its own.
var unpinned = []string{"server", "lease", "pipelines", "deliver"}

// Encode writes the gate as canonical JSON on one line: equal gates give equal
// bytes. Nil commands (not configured) and empty ones (all passes) stay apart;
// in every other list or table nil is empty.
func (g Gate) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // commands are full of && and >, and people read the journal
	if err := e.Encode(g.normal()); err != nil {
		panic(err) // strings and numbers are never refused
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// DecodeGate reads what Encode wrote. A key that an older ferrus did not pin
// has its default; one that this ferrus does not know is an error, for a gate
// must not be judged by half.
func DecodeGate(data []byte) (Gate, error) {
	g := Default().Gate()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return Gate{}, fmt.Errorf("read the pinned gate: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Gate{}, fmt.Errorf("read the pinned gate: more than one value")
	}
	return g.normal(), nil
}

// Diff lists every key in which now differs from the pinned g, sorted by key;
// nil when they judge alike.
func (g Gate) Diff(now Gate) []Change {
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
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	return changes
}

// String reads "checks.timeout_secs: pinned 1800, now 60".
func (c Change) String() string {
	return strings.Join([]string{c.Key, ": pinned ", c.Pinned, ", now ", c.Now}, "")
}

// normal makes nil and empty one wherever they mean the same.
func (g Gate) normal() Gate {
	if g.Checks.Ignore == nil {
		g.Checks.Ignore = []string{}
	}
	if g.Checks.Where == "" {
		g.Checks.Where = InWorktree
	}
	if g.Checks.EnvDeny == nil {
		g.Checks.EnvDeny = []string{}
	}
	if g.Checks.Env == nil {
		g.Checks.Env = map[string]string{}
	}
	for _, a := range []*Agent{&g.HQ.Supervisor, &g.HQ.Executor} {
		if a.Args == nil {
			a.Args = []string{}
		}
	}
	return g
}
