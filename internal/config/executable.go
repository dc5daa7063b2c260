package config

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// Executable returns the values of the project's file that make something run or widen rights, in
// the order of the file. They need a person's agreement. A value that equals its default is
// omitted: it comes from ferrus, not from the repository. So a project without ferrus.toml needs no
// agreement. Nil equals empty, except for checks.commands, where they mean different things.
func (c Config) Executable() []trust.Value {
	if c.project != nil {
		c.HQ, c.Channels = c.project.HQ, c.project.Channels
	}
	var values []trust.Value
	for _, k := range keys {
		if k.does == "" {
			continue
		}
		if is := k.canonical(c); is != k.canonical(Default()) {
			values = append(values, trust.Value{Key: k.name, Value: is, Does: k.does})
		}
	}
	return append(values, ruleValues(c.Rules)...)
}

// shown returns the value at the key in c as a literal without its secrets.
func (k key) shown(c Config) string {
	if list, ok := k.value(c).([]string); ok && k.secret {
		return literal(masked(list))
	}
	return literal(k.value(c))
}

// canonical returns the value at the key in c as a literal. Values with the same meaning have the
// same literal.
func (k key) canonical(c Config) string {
	v := k.value(c)
	if list, ok := v.([]string); ok && k.secret {
		v = masked(list)
	}
	if list, ok := v.([]string); ok && list == nil && k.name != "checks.commands" {
		v = []string{}
	}
	return literal(v)
}

// Executable returns the values of the gate that need a person's agreement, as Config.Executable
// does.
func (g Gate) Executable() []trust.Value {
	c := Default()
	g = g.normal()
	c.Checks, c.Limits, c.Notify, c.HQ, c.Branches.Setup, c.Branches.Score = g.Checks, g.Limits, g.Notify, g.HQ, g.Setup, g.Score
	c.Rules = g.Rules
	return c.Executable()
}

// InGate reports whether the key is frozen with a task.
func InGate(name string) bool {
	k, ok := find(name)
	return isRule(name) || ok && !slices.Contains(unpinned, k.table()) && !slices.Contains(live, k.name) &&
		(k.table() != "branches" || k.name == "branches.score")
}
