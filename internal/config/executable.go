package config

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/trust"
)

// Executable lists the values by which the project's file makes something run or widens rights, in the order of the file:
// those that need a person's agreement. A value that equals its default is left out, whether the file spells it out or
// not, because it is ferrus's own and not the repository's; so a project without ferrus.toml needs no agreement.
// Except for checks.commands, where nil and empty judge differently, nil is empty.
func (c Config) Executable() []trust.Value {
	if c.project != nil {
		c.HQ = *c.project
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
	return values
}

// canonical is the value at the key in c as a literal in which what means the same is the same.
func (k key) canonical(c Config) string {
	v := k.value(c)
	if list, ok := v.([]string); ok && list == nil && k.name != "checks.commands" {
		v = []string{}
	}
	return literal(v)
}

// Executable lists the values of the gate that need a person's agreement, as Config.Executable does.
func (g Gate) Executable() []trust.Value {
	c := Default()
	g = g.normal()
	c.Checks, c.Limits, c.Notify, c.HQ, c.Branches.Setup = g.Checks, g.Limits, g.Notify, g.HQ, g.Setup
	return c.Executable()
}

// InGate reports whether the key is one of those that are frozen with a task.
func InGate(name string) bool {
	k, ok := find(name)
	return ok && !slices.Contains(unpinned, k.table()) && k.table() != "branches"
}
