package checks

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// markName names the variable by which a server finds the processes of a helper that was killed.
const markName = "FERRUS_CHECK"

// allowed returns env without the variables whose names match a pattern of deny.
func allowed(env, deny []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(deny, func(pattern string) bool {
			denied, _ := path.Match(fold(pattern), fold(name)) // the patterns were validated
			return denied
		})
	})
}

// commandEnv is the environment of the commands: the helper's own, from which the server has taken what is denied, and
// what the spec adds. It is not the helper's environment, lest a GODEBUG meant for the commands changes the helper.
func commandEnv(o order, own []string) []string {
	env := slices.Clone(own)
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Env)) {
		env = append(env, name+"="+o.Spec.Env[name])
	}
	return append(env, "PWD="+o.Spec.Dir, markName+"="+o.Mark) // of equal names the last counts
}
